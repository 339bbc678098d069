"""Results without rows say what the traces lack, and wrong names are errors."""

import warnings

import pytest
from hand_written import ingested, span, trace_text

import hta_sql
from hta_sql.demo import write_job
from hta_sql.errors import BadParameter


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Jobs bare, made and plain. The ranks are 0 and 1, and in plain 0. GPU activities are on
    rank 0 of bare and on both ranks of made."""
    folder = tmp_path_factory.mktemp("no-data")
    launch = span("cudaLaunchKernel", 10, 5, "cuda_runtime", correlation=1)
    kernel = span("gemm", 20, 5, "kernel", pid=0, tid=7, correlation=1, device=0, stream=7)
    for job in ("bare", "plain"):
        (folder / "t" / job).mkdir(parents=True)
    (folder / "t/bare/rank_0.json").write_text(trace_text([span(), launch, kernel]))
    (folder / "t/bare/rank_1.json").write_text(trace_text([span()]))
    (folder / "t/plain/rank_0.json").write_text(trace_text([span()]))
    write_job(folder / "t/made", ranks=2, steps=2, layers=1)
    hta_sql.ingest(folder / "t", folder / "archive", workers=1)
    with hta_sql.open(folder / "archive") as run:
        yield run


def reasons(run, query, **parameters):
    """The warnings of a call without rows, without the name of the query."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert getattr(run, query)(**parameters).num_rows == 0
    assert {w.filename for w in found} <= {__file__}, "the line of the user"
    said = [str(w.message) for w in found if w.category is hta_sql.NoData]
    assert all(line.startswith(f"{query} has no rows: ") for line in said)
    return [line.removeprefix(f"{query} has no rows: ") for line in said]


BARE = {"only_jobs": ["bare"]}
NO_STEPS = "has no annotations that mark steps"
CALL_STEP = (
    "call the profiler's step() after each step of the program, or name other annotations with "
    "`hta-sql refresh ARCHIVE --steps REGEX`"
)
NO_MODULES = (
    "has no calls of nn.Modules in Python; choose job 'made', or record with with_stack=True"
)
RECORD = "record with ProfilerActivity.CUDA on a GPU"


@pytest.mark.parametrize(
    ("query", "parameters", "said"),
    [
        ("profiler_steps", BARE, [f"job 'bare' {NO_STEPS}; choose job 'made', or {CALL_STEP}"]),
        (
            "kernel_stats",
            BARE | {"only_ranks": [1]},
            [f"rank 1 of job 'bare' has no GPU activities; choose rank 0, or {RECORD}"],
        ),
        (
            "step_breakdown",
            BARE | {"only_ranks": [1]},
            [
                f"rank 1 of job 'bare' {NO_STEPS}; choose job 'made', or {CALL_STEP}",
                f"rank 1 of job 'bare' has no GPU activities; choose job 'made', or {RECORD}",
            ],
        ),
        (
            "annotation_stats",
            BARE | {"source": "host"},
            [
                "job 'bare' has no annotations of the host; choose job 'made', or mark parts of "
                "the program with torch.profiler.record_function"
            ],
        ),
        (
            "hardware_counters",
            {},
            [
                "the traces have no hardware counters (cuda_profiler_range); record with "
                "profiler_metrics in experimental_config"
            ],
        ),
        (
            "critical_path",
            {},
            ["the archive has no critical path; `hta-sql critical-path ARCHIVE` computes it"],
        ),
        (
            "kernel_stats",
            {"only_ranks": []},
            ["only_ranks is an empty list, which selects nothing"],
        ),
        # A step of another job.
        (
            "profiler_steps",
            BARE | {"only_steps": [1]},
            [f"job 'bare' {NO_STEPS}; choose job 'made', or {CALL_STEP}"],
        ),
        ("module_diff", {"base_job": "bare", "test_job": "bare"}, [f"job 'bare' {NO_MODULES}"]),
        (
            "module_diff",
            {"base_job": "bare"},  # the last one by name is the other
            [f"jobs 'bare' and 'plain' {NO_MODULES.replace('has', 'have')}"],
        ),
        ("idle_gaps", {"min_gap_ns": 10**15}, []),
    ],
)
def test_what_is_lacking(run, query, parameters, said):
    assert reasons(run, query, **parameters) == said


def test_annotations_of_the_gpu(run):
    [said] = reasons(run, "annotation_stats", **BARE)
    assert said.startswith("job 'bare' has no annotations on the GPU; ")
    assert said.endswith("choose the source host (--source host) to measure those of the host")


def test_stored_results_are_mentioned_once(run):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert run.fleet_summary().num_rows == 0
    [said] = [str(w.message) for w in found]
    assert said.endswith("3 jobs have no stored results; `hta-sql materialize ARCHIVE` stores them")


def test_rows_need_no_words(run):
    """Nor does an empty answer of a statement, in which anything may select nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run.kernel_stats().num_rows
        assert run.sql("FROM profiler_steps(only_jobs := ['bare'])").num_rows == 0


def test_no_job_has_all(tmp_path):
    """One job has two ranks, the other has collectives."""
    kernel = span("nccl", 1, 5, "kernel", pid=0, tid=7, device=0, stream=7)
    kernel["args"] |= {"Collective name": "allreduce", "Group size": 2}
    files = {"a_0.json": [span()], "a_1.json": [span()], "b_0.json": [span(), kernel]}
    for name, events in files.items():
        job = tmp_path / "t" / name[0]
        job.mkdir(parents=True, exist_ok=True)
        (job / f"rank_{name[2]}.json").write_text(trace_text(events))
    hta_sql.ingest(tmp_path / "t", tmp_path / "archive", workers=1)
    with hta_sql.open(tmp_path / "archive") as run:
        assert reasons(run, "collectives") == [
            "no job has everything that the query needs: job 'a' has no communication kernels "
            "with the arguments of a collective, job 'b' has only one rank"
        ]


def test_an_empty_archive(tmp_path):
    run = ingested(tmp_path, trace_text([span()]))
    with run:
        hta_sql.drop(tmp_path / "archive", jobs=["job"])
        run.reload()
        assert reasons(run, "kernel_stats") == [
            "the archive has no traces; `hta-sql ingest TRACES ARCHIVE` adds some"
        ]


@pytest.mark.parametrize(
    ("query", "parameters", "says"),
    [
        (
            "kernel_stats",
            {"only_jobs": ["mad"]},
            "the archive has no job 'mad'; did you mean 'made'? its jobs are 'bare'",
        ),
        ("kernel_stats", {"only_jobs": "x"}, "the archive has no job 'x'; its jobs are"),
        ("kernel_stats", {"only_ranks": [0, 9]}, "the archive has no rank 9; its ranks are 0, 1"),
        ("kernel_stats", {"only_ranks": [8, 9]}, "the archive has no ranks 8, 9; its ranks are"),
        ("kernel_diff", {"base_job": "nope"}, "the archive has no job 'nope'"),
        ("kernel_diff", {"test_job": "nope"}, "the archive has no job 'nope'"),
        ("kernel_diff", {"base_ranks": [5]}, "the archive has no rank 5"),
        ("kernel_diff", {"test_ranks": [5]}, "the archive has no rank 5"),
        ("regressions", {"newest_job": "nope"}, "the archive has no job 'nope'"),
        ("call_stack", {"of_event": 1, "of_rank": 5}, "the archive has no rank 5"),
        ("profiler_steps", {"only_steps": [7]}, "the archive has no step 7; its steps are 0, 1"),
        ("step_breakdown", BARE | {"only_steps": [7]}, "the archive has no step 7"),
    ],
)
def test_names_of_nothing_are_errors(run, query, parameters, says):
    with pytest.raises(BadParameter) as error:
        run.query(query, **parameters)
    assert str(error.value).startswith(says)


def test_ranks_of_another_job(run):
    assert reasons(run, "op_calls", only_jobs=["plain"], only_ranks=[1]) == [
        "job 'plain' has no rank 1; it has 0"
    ]


def test_many_names(tmp_path):
    files = {f"rank_{rank}.json": trace_text([span()]) for rank in (*range(12), 40)}
    with ingested(tmp_path, files) as run:
        with pytest.raises(BadParameter) as error:
            run.op_calls(only_ranks=[99])
        assert str(error.value).endswith("its ranks are 0, 1, 2, 3, 4, 5, 6, 7 and 5 more")
    with hta_sql.open(tmp_path / "archive", only_jobs=["job"]) as run:
        assert run.op_calls(only_ranks=[40]).num_rows == 1


def test_jobs_that_it_was_not_opened_for(run):
    root = run.session.roots[0]
    with hta_sql.open(root, only_jobs=["bare"]) as part:
        with pytest.raises(BadParameter, match="the archive has no job 'made'; it has 'bare'"):
            part.kernel_stats(only_jobs=["made"])
