"""Events of devices."""

from hand_written import span

from hta_sql.catalogue.catalog import Catalog

GPU_QUERIES = [query.name for query in Catalog.load().newest.values() if query.theme == "gpu"]


REQUIRED = {"kernel_sequences": {"operator": "aten::mm"}}


def launch(name, ts, correlation, dur=5, cat="cuda_runtime", tid=1) -> dict:
    return span(name, ts, dur, cat, tid=tid, correlation=correlation)


def activity(name, ts, dur, correlation=None, cat="kernel", device=0, stream=7, **args) -> dict:
    ids = {} if correlation is None else {"correlation": correlation}
    return span(name, ts, dur, cat, device, stream, device=device, stream=stream, **ids, **args)


def step(number, ts, dur) -> dict:
    return span(f"ProfilerStep#{number}", ts, dur, "user_annotation")


def shown(archive, query, *columns, **parameters) -> list[tuple]:
    """These columns of a query's result, which also keeps its header's promises."""
    if query not in REQUIRED:
        assert archive.check(query) == []
    rows = archive.query(query, **(REQUIRED.get(query, {}) | parameters)).to_pylist()
    return [tuple(row[column] for column in columns) for row in rows]


def queue(archive) -> list[tuple]:
    """(device, stream, us, queue length)"""
    found = shown(archive, "queue_length_series", "device", "stream", "at_ns", "queue_length")
    return [(device, stream, at_ns // 1000, length) for device, stream, at_ns, length in found]
