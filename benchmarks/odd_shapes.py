"""Traces of odd shapes: each draws so many events of one that hurts."""

from collections.abc import Iterator

from shape_events import (
    HOST,
    LONG_NAME,
    LONG_NAME_EVERY,
    LONG_TAILS,
    NESTED,
    Event,
    annotation,
    host,
    kernel,
    launch,
    op,
)


def staircase(n: int) -> Iterator[Event]:
    """Every operator begins inside the one before it and ends after it."""
    for i in range(n // 3):
        yield op("aten::mm", i * 10, 15)
        yield launch(i + 1, i * 10 + 6, 2)
        yield kernel(i + 1, i * 10 + 8, 9)


def all_crossing(n: int) -> Iterator[Event]:
    """Every operator crosses all others that are open, up to 100,000 of them."""
    for i in range(n // 3):
        yield op("aten::mm", i, 100_000)
        yield launch(i + 1, i, 1)
        yield kernel(i + 1, i + 1, 1)


def long_tails(n: int) -> Iterator[Event]:
    """Annotations that cross each other and stay open over all operators."""
    calls = n // 3
    for k in range(LONG_TAILS):
        yield annotation(f"request {k}", k * 10, calls * 10 + LONG_TAILS * 10)
    for i in range(calls):
        ts = (LONG_TAILS + i) * 10
        yield op("aten::mm", ts, 8)
        yield launch(i + 1, ts + 1, 2)
        yield kernel(i + 1, ts + 4, 5)


def deep(n: int) -> Iterator[Event]:
    """2,000 operators in one another, a launch in every tenth; again and again."""
    for turn in range(max(1, n // (NESTED + NESTED // 5))):
        begin = turn * NESTED * 10
        for depth in range(NESTED):
            ts = begin + depth * 2
            yield op(f"aten::deep_{depth}", ts, NESTED * 8 - depth * 4)
            if depth % 10 == 0:
                correlation = turn * NESTED + depth + 1
                yield launch(correlation, ts + 1, 1)
                yield kernel(correlation, ts + 2, 15)


def threads(n: int) -> Iterator[Event]:
    """Every call on a thread of its own."""
    for i in range(n // 3):
        yield op("aten::mm", i * 10, 100, tid=i + 1)
        yield launch(i + 1, i * 10 + 2, 5, tid=i + 1)
        yield kernel(i + 1, i * 10 + 8, 9)


def no_lengths(n: int) -> Iterator[Event]:
    """Nothing takes any time."""
    for i in range(n // 3):
        yield op("aten::mm", i, 0)
        yield launch(i + 1, i, 0)
        yield kernel(i + 1, i + 1, 0)


def equal_stamps(n: int) -> Iterator[Event]:
    """Everything begins at one instant and ends at one."""
    for i in range(n // 3):
        yield op("aten::mm", 1000, 10)
        yield launch(i + 1, 1000, 10)
        yield kernel(i + 1, 1000, 10)


def steps(n: int) -> Iterator[Event]:
    """A step for every call."""
    for i in range(n // 4):
        yield annotation(f"ProfilerStep#{i}", i * 100, 100)
        yield op("aten::mm", i * 100 + 10, 50)
        yield launch(i + 1, i * 100 + 20, 10)
        yield kernel(i + 1, i * 100 + 40, 50)


def backward(n: int) -> Iterator[Event]:
    """As many `## backward ##` as operators, whose gradients run on a thread of their own."""
    for i in range(n // 8):
        ts = i * 100
        yield op("aten::mm", ts, 20, **{"Sequence number": i})
        yield launch(2 * i + 1, ts + 5, 5)
        yield kernel(2 * i + 1, ts + 10, 30)
        yield annotation("## backward ##", ts + 30, 60)
        gradient = {"Sequence number": i, "Fwd thread id": 1}
        yield op("autograd::engine::evaluate_function: MmBackward0", ts + 40, 40, 2, **gradient)
        yield op("MmBackward0", ts + 41, 38, 2, **gradient)
        yield launch(2 * i + 2, ts + 45, 5, tid=2)
        yield kernel(2 * i + 2, ts + 50, 40)


def one_correlation(n: int) -> Iterator[Event]:
    """All launches and all kernels carry the same id."""
    for i in range(n // 3):
        yield op("aten::mm", i * 10, 8)
        yield launch(7, i * 10 + 1, 2)
        yield kernel(7, i * 10 + 4, 5)


def long_names(n: int) -> Iterator[Event]:
    """Among ordinary calls some with names of 10 MB."""
    for i in range(n // 3):
        name = f"{LONG_NAME}{i}" if i % (LONG_NAME_EVERY // 3) == 0 else None
        yield op(name or "aten::mm", i * 10, 8)
        yield launch(i + 1, i * 10 + 1, 2)
        yield kernel(i + 1, i * 10 + 4, 5, name=name or "gemm")


def one_graph(n: int) -> Iterator[Event]:
    """One launch of a graph with all kernels."""
    yield op("aten::mm", 0, 100)
    yield host("cuda_runtime", "cudaGraphLaunch", 10, 20, 1, {"cbid": 311, "correlation": 7})
    for i in range(n - 2):
        yield kernel(7, 100 + i * 10, 9, **{"graph id": 3, "graph node id": i + 1})


def one_flow(n: int) -> Iterator[Event]:
    """All arrows, of launches and of gradients, carry the same id."""
    for i in range(n // 8):
        ts = i * 100
        yield op("aten::mm", ts, 20)
        yield launch(i + 1, ts + 5, 5)
        yield kernel(i + 1, ts + 12, 30)
        yield op("MmBackward0", ts + 40, 20, tid=2)
        yield flow("s", "ac2g", HOST, 1, ts + 5)
        yield flow("f", "ac2g", 0, 7, ts + 12)
        yield flow("s", "fwdbwd", HOST, 1, ts)
        yield flow("f", "fwdbwd", HOST, 2, ts + 40)


def flow(ph: str, cat: str, pid: int, tid: int, ts: int) -> Event:
    end = {"bp": "e"} if ph == "f" else {}
    return {"ph": ph, "id": 1, "cat": cat, "name": cat, "pid": pid, "tid": tid, "ts": ts, **end}


def collectives(n: int) -> Iterator[Event]:
    """All-reduces of one process group, of which this rank alone has a trace."""
    arguments = {
        "Collective name": "allreduce",
        "In msg nelems": 1024,
        "Out msg nelems": 1024,
        "Group size": 8,
        "dtype": "BFloat16",
        "Process Group Name": "0",
        "Process Group Description": "default_pg",
        "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]",
    }
    for i in range(n // 3):
        yield op("record_param_comms", i * 100, 20, **arguments)
        yield launch(i + 1, i * 100 + 5, 5)
        yield kernel(
            i + 1,
            i * 100 + 20,
            60,
            stream=20,
            name="ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
            **arguments,
        )


def one_sequence(n: int) -> Iterator[Event]:
    """All operators, forward and backward, carry the same sequence number."""
    for i in range(n // 4):
        yield op("aten::mm", i * 100, 20, **{"Sequence number": 5})
        arguments = {"Sequence number": 5, "Fwd thread id": 1}
        yield op("MmBackward0", i * 100 + 30, 40, 2, **arguments)
        yield launch(i + 1, i * 100 + 40, 5, tid=2)
        yield kernel(i + 1, i * 100 + 50, 40)


def passes_of_threads(n: int) -> Iterator[Event]:
    """Every forward operator is on a thread of its own, and one thread goes back through them all;
    half of them carry the same sequence number."""
    for i in range(n // 4):
        number = i if i % 2 else 5
        yield op("aten::mm", i * 100, 20, tid=i + 10, **{"Sequence number": number})
        arguments = {"Sequence number": number, "Fwd thread id": 1 + i % 3}
        yield op("MmBackward0", i * 100 + 30, 40, 2, **arguments)
        yield launch(i + 1, i * 100 + 40, 5, tid=2)
        yield kernel(i + 1, i * 100 + 50, 40)


def memory_instants(n: int) -> Iterator[Event]:
    """Memory that is taken and given back, in operators that do little else."""
    allocated = 0
    for i in range(n // 4):
        ts = i * 10
        yield op("aten::empty", ts, 8)
        for at, size in ((2, 4096), (4, 1024), (6, -4096)):
            allocated += size
            yield {
                "ph": "i",
                "s": "t",
                "cat": "cpu_instant_event",
                "name": "[memory]",
                "pid": HOST,
                "tid": 1,
                "ts": ts + at,
                "args": {
                    "Device Type": 1,
                    "Device Id": 0,
                    "Addr": 1_000_000 + i % 1000,
                    "Bytes": size,
                    "Total Allocated": allocated,
                    "Total Reserved": 1 << 40,
                },
            }


def overlapping_kernels(n: int) -> Iterator[Event]:
    """Kernels and copies that run on one stream at the same time, up to 100,000 of them."""
    for i in range(n // 3):
        yield op("aten::mm", i * 10, 8)
        yield launch(i + 1, i * 10 + 1, 2)
        running = kernel(i + 1, i * 10 + 4, 1_000_000)
        if i % 4 == 0:
            running |= {"cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)"}
            running["args"] |= {"bytes": 1 << 20, "memory bandwidth (GB/s)": 20.5}
        yield running


def streams(n: int) -> Iterator[Event]:
    """Every kernel on a stream of its own."""
    for i in range(n // 3):
        yield op("aten::mm", i * 10, 8)
        yield launch(i + 1, i * 10 + 1, 2)
        yield kernel(i + 1, i * 10 + 4, 25, stream=i + 1)


def distinct_names(n: int) -> Iterator[Event]:
    """No two operators, annotations or kernels have one name."""
    for i in range(n // 4):
        yield annotation(f"request {i}", i * 10, 9)
        yield op(f"aten::op_{i}", i * 10, 8, **{"Input Dims": [[i, 8], [8, i]]})
        yield launch(i + 1, i * 10 + 1, 2)
        yield kernel(i + 1, i * 10 + 4, 5, name=f"gemm_{i}")


def modules(n: int) -> Iterator[Event]:
    """Modules in one another, each instance called once, with a Python function in each."""
    for i in range(n // 5):
        ts, outer = i * 20, i % 4 == 0
        names = (f"nn.Module: Block_{i // 4}" if outer else f"nn.Module: Linear_{i}", "forward")
        for level, name in enumerate(names):
            module = {"Python module id": i} if level == 0 else {}
            ids = {"Python id": 2 * i + level + 1, "Python parent id": 2 * i + level, **module}
            dur = 78 if outer and level == 0 else 18 - level * 2
            yield host("python_function", name, ts + level, dur, 1, ids)
        yield op("aten::mm", ts + 3, 10)
        yield launch(i + 1, ts + 4, 2)
        yield kernel(i + 1, ts + 7, 15)


def waits(n: int) -> Iterator[Event]:
    """Every kernel is waited for, by its event and by its stream."""
    for i in range(n // 5):
        ts = i * 100
        yield op("aten::mm", ts, 30)
        yield launch(3 * i + 1, ts + 5, 5)
        yield kernel(3 * i + 1, ts + 15, 40)
        yield host(
            "cuda_runtime",
            "cudaStreamSynchronize",
            ts + 32,
            25,
            1,
            {"cbid": 131, "correlation": 3 * i + 2},
        )
        waited = kernel(3 * i + 2, ts + 33, 23, name="Stream Sync")
        waited["args"] = {
            "cuda_sync_kind": "Stream Sync",
            "device": 0,
            "context": 1,
            "stream": 7,
            "correlation": 3 * i + 2,
            "wait_on_stream": -1,
            "wait_on_cuda_event_record_corr_id": -1,
            "wait_on_cuda_event_id": -1,
        }
        yield waited | {"cat": "cuda_sync"}
