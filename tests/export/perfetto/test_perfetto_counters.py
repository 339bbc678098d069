"""Counters in exports, and what goes wrong."""

from collections import Counter

import pytest
from export.conftest import RANKS, added, exported, invoke, ns
from queries.plans import bad_joins, plan

import hta_sql
from hta_sql.database.planning import plan_for_size
from hta_sql.database.sql_files import SqlFiles
from hta_sql.export import perfetto
from hta_sql.export.sql import FILES


def series(run, name, **given):
    return run.query(name, **given).to_pylist()


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["--only-ranks", 1], {"only_ranks": [1]}),
        ([], {}),
        (["--step", 1], {"only_steps": [1]}),
        (["--step", 2, "--only-ranks", "0,2"], {"only_steps": [2], "only_ranks": [0, 2]}),
    ],
)
def test_counters_are_the_queries(archive, source, tmp_path, words, given):
    trace = exported("perfetto", archive, tmp_path / "c.json", *words)
    base = trace["baseTimeNanoseconds"]
    several = "hta_sql" in trace
    told = trace.get("hta_sql", {"ranks": []})["ranks"]
    shifts = {rank["rank"]: rank["shift_ns"] for rank in told}
    devices = {
        (rank["rank"], old): int(new) for rank in told for new, old in rank["devices"].items()
    }
    counters = added(trace, "C")

    def point(row, key, value, name, **more):
        device = row["device"]
        pid = devices[row["rank"], device] if several else device
        at = row["at_ns"] + shifts.get(row["rank"], 0) - base
        return (pid, name, more.get("id"), at, key, value)

    with hta_sql.open(archive) as run:
        wanted = [
            point(
                row,
                "(launches)",
                row["queue_length"],
                f"Queue length of stream {row['stream']}",
                id=row["stream"],
            )
            for row in series(run, "queue_length_series", **given)
        ]
        wanted += [
            point(row, "(GB/s)", row["bandwidth_gbps"], f"{row['copy_kind']} bandwidth")
            for row in series(run, "memory_bandwidth_series", **given)
        ]
        busy = [
            row
            for row in series(run, "heatmap", bucket_count=1000, **given)
            if row["kind"] == "busy"
        ]

    def found(*names):
        return [
            (e["pid"], e["name"], e.get("id"), ns(e), *next(iter(e["args"].items())))
            for e in counters
            if (e["name"] in names) == bool(names)
        ]

    shown = [e for e in found() if e[1] != "GPU busy"]
    assert Counter(shown) == Counter(wanted)
    for lane in {e[:3] for e in wanted}:  # and in the order of time
        assert [e for e in shown if e[:3] == lane] == [e for e in wanted if e[:3] == lane]
    shares = [e for e in found("GPU busy")]
    assert [e[5] for e in shares] == [pytest.approx(100 * row["busy_frac"]) for row in busy]
    assert len({e[0] for e in shares}) == len({row["rank"] for row in busy})
    if several:
        assert [e[3] + base for e in shares] == [
            pytest.approx(row["start_ns"], abs=2_000) for row in busy
        ]
    # As busy as the rank's own kernels are.
    for rank in {row["rank"] for row in busy}:
        mean = sum(row["busy_ns"] for row in busy if row["rank"] == rank)
        assert mean > 0


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("none", set()),
        ("queue", {f"Queue length of stream {stream}" for stream in (7, 13, 20)}),
        ("utilisation", {"GPU busy"}),
        ("bandwidth,utilisation", {"GPU busy", "Memcpy HtoD bandwidth", "Memset bandwidth"}),
    ],
)
def test_which_counters(archive, tmp_path, asked, names):
    trace = exported("perfetto", archive, tmp_path / "c.json", "--counters", asked)
    assert {e["name"] for e in added(trace, "C")} <= names | {
        f"Memcpy {kind} bandwidth" for kind in ("DtoH", "DtoD")
    }
    assert names <= {e["name"] for e in added(trace, "C")}


# What goes wrong


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["--step", 9], 1, "Error: job 'llama' has no step 9; it has 3 steps, 0 to 2\n"),
        (["--only-ranks", 7], 2, "Error: job 'llama' has no rank 7; its ranks are 0 to 2\n"),
        (["--job", "other"], 2, "Error: the archive has no job 'other'; it has 'llama'\n"),
        (["--window", "10s..11s"], 1, "Error: the chosen part of the traces has no events; choose"),
        (
            ["--window", "10s..11s", "--only-ranks", "0"],
            1,
            "Error: the chosen part of the traces has no events",
        ),
        (["--step", 1, "--window", "1ms..2ms"], 2, "give either --step or --window, not both"),
        (
            ["--counters", "quue"],
            2,
            "'quue' is not a counter; give some of queue, bandwidth, utilisation",
        ),
    ],
)
def test_errors(archive, tmp_path, words, status, says):
    result = invoke("perfetto", archive, tmp_path / "out.json", *words)
    assert (result.exit_code, says in result.stderr) == (status, True), result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["perfetto", "counters"])
def test_names_tell_the_format(archive, tmp_path, command):
    result = invoke(command, archive, tmp_path / "out.pftrace")
    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: {tmp_path / 'out.pftrace'}: the name has to end in .json, or in .json.gz for a "
        "compressed file\n"
    )


def test_several_jobs(archive, made, tmp_path):
    hta_sql.ingest([made / "llama"], tmp_path / "other", job="other")
    result = invoke("perfetto", archive, tmp_path / "other", tmp_path / "out.json")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: the archive has 2 jobs (llama, other); choose one with --job\n"
    )
    trace = exported("perfetto", archive, tmp_path / "out.json", "--job", "llama")
    assert trace["hta_sql"]["job"] == "llama"


def test_no_half_file_stays(archive, tmp_path):
    out = tmp_path / "out.json"
    out.write_text("before")
    assert invoke("perfetto", archive, out, "--window", "10s..11s").exit_code == 1
    assert out.read_text() == "before" and list(tmp_path.iterdir()) == [out]


# How it is read


def test_nothing_stays_in_the_archive(archive, tmp_path):
    with hta_sql.open(archive) as run:
        perfetto.export_perfetto(run, tmp_path / "a.json")
        with pytest.raises(hta_sql.HtaSqlError):
            perfetto.export_perfetto(run, tmp_path / "b.json", part=perfetto.Part(step=9))
        assert run.sql("SELECT * FROM duckdb_tables()").num_rows == 0


def test_events_of_a_rank_are_read_from_its_file_alone(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(SqlFiles, "drop_tables", lambda *_: None)
    with hta_sql.open(archive) as run:
        perfetto.export_perfetto(
            run, tmp_path / "a.json", part=perfetto.Part(step=1), only_ranks=[0, 1]
        )
        plan_for_size(run.session.con, is_small=False)
        scans = [
            node
            for node in plan(run.session.con, FILES.text("events"))
            if "events/" in str(node["extra_info"].get("Filename(s)", ""))
            or "event_id" in str(node["extra_info"].get("Filters", ""))
        ]
        assert scans
        for scan in scans:
            told = scan["extra_info"]
            assert told["Scanning Files"] == f"1/{RANKS}"
            assert "event_id>=" in str(told["Filters"]).replace(" ", "")
        for name in ("of_step", "in_window", "lanes"):
            query = FILES.text(name).split(" AS\n", 1)[1]
            found = [
                join
                for join in bad_joins(run.session.con, query)
                if "hash(parse_filename" not in join
            ]
            assert [j for j in found if "start_ns" not in j and "NL_JOIN" not in j] == [], name
