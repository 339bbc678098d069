"""annotation_stats: selected steps, ranks and names."""

import duckdb
import pytest
from click.testing import CliRunner
from queries.annotations import FOUR, OF_GPU, STEP_AND_LOSS

import hta_sql
from hta_sql.cli import cli
from hta_sql.errors import BadParameter


def test_host_annotations_of_selected_steps(gpu):
    # Annotation 1 begins before step 5, its activity 202 is launched in it; 2 is in the step, its
    # activity 203 launched after it.
    ops = """
        event_id  cat              name   step  start_ns  end_ns  annotation_id
        1         user_annotation  epoch  -     0         90      -
        2         user_annotation  train  5     10        30      1
        3         user_annotation  train  6     40        50      1
    """
    activities = """
        event_id  step  annotation_id  start_ns  end_ns
        201       5     2              12        16
        202       5     1              17        21
        203       6     2              30        33
        204       6     3              42        43
        205       -     1              80        82
    """
    gpu.expect(
        "annotation_stats",
        """
        name   count  total_ns  gpu_busy_ns
        epoch  1      90        14
        train  2      30        8
    """,
        activities=activities,
        ops=ops,
        source="host",
    )
    gpu.expect(
        "annotation_stats",
        """
        name   count  total_ns  gpu_busy_ns
        train  1      20        4
    """,
        activities=activities,
        ops=ops,
        source="host",
        only_steps=[5],
    )
    gpu.expect(
        "annotation_stats",
        """
        name   count  gpu_busy_ns
        train  2      8
    """,
        activities=activities,
        ops=ops,
        source="host",
        only_steps=[5, 6, 7],
    )


def test_gpu_annotations_of_selected_steps(gpu):
    # The origin tells the step: 11 runs when the host is in step 6 already. 13 has no origin in the
    # trace, 14 no External id, 15's is of an operator.
    ops = """
        event_id  cat              name       step  start_ns  end_ns  external_id
        1         user_annotation  Profiler   5     0         10      70
        2         user_annotation  loss       5     2         6       71
        3         user_annotation  Profiler   6     10        20      72
        4         user_annotation  nothing    5     3         4       -
        5         cpu_op           mm         5     4         5       75
        6         user_annotation  elsewhere  -     90        91      76
    """
    events = """
        event_id  cat                  name      start_ns  end_ns  external_id
        11        gpu_user_annotation  loss      12        15      71
        12        gpu_user_annotation  Profiler  15        25      72
        13        gpu_user_annotation  lost      3         5       74
        14        gpu_user_annotation  nothing   3         5       -
        15        gpu_user_annotation  mm        3         5       75
        16        gpu_user_annotation  late      3         5       76
    """
    gpu.expect(
        "annotation_stats",
        """
        name  total_ns
        loss  3
    """,
        ops=ops,
        events=events,
        only_steps=[5],
    )
    gpu.expect(
        "annotation_stats",
        """
        name      total_ns
        Profiler  10
        loss      3
    """,
        ops=ops,
        events=events,
        only_steps=[6, 5],
    )
    gpu.fill(host_ops=ops, events=events)
    assert len(gpu.run("annotation_stats")) == 6
    assert gpu.run("annotation_stats", only_steps=[]) == []


def test_origins_are_of_the_same_rank(gpu):
    gpu.expect(
        "annotation_stats",
        """
        job  rank  name
        j    1     loss
    """,
        ops="""
        rank  cat              name  step  start_ns  end_ns  external_id
        0     user_annotation  loss  4     2         6       71
        1     user_annotation  loss  5     2         6       71
    """,
        events="""
        job  rank  cat                  name  start_ns  end_ns  external_id
        j    0     gpu_user_annotation  loss  12        15      71
        j    1     gpu_user_annotation  loss  12        15      71
        k    1     gpu_user_annotation  loss  12        15      71
    """,
        only_steps=[5],
    )


@pytest.mark.parametrize("source", ["gpu", "host"])
def test_names_that_contain_something(gpu, source):
    gpu.fill(FOUR, STEP_AND_LOSS, OF_GPU)

    def names(text):
        rows = gpu.run("annotation_stats", source=source, name_contains=text)
        return [(row["name"], row["gpu_busy_ns"]) for row in rows]

    assert names("os") == [("loss", 3 if source == "host" else None)]
    assert names("LOSS") == names("%") == []
    # What is not shown is still between: k2 was launched in loss, which is in step.
    assert names("tep") == [("step", 11 if source == "host" else None)]


@pytest.mark.parametrize("filled", [True, False])
@pytest.mark.parametrize("source", ["GPU", "cpu", "", None, "it's"])
def test_unknown_source(gpu, source, filled):
    gpu.fill(*(FOUR, STEP_AND_LOSS, OF_GPU) if filled else ())
    shown = "NULL" if source is None else f"'{source}'"
    message = f"annotation_stats: source is 'gpu' or 'host', not {shown}"
    for call in ("FROM", "SELECT count(*) FROM"):
        with pytest.raises(duckdb.InvalidInputException) as error:
            gpu.con.execute(f"{call} annotation_stats_v1(source := $source)", {"source": source})
        assert str(error.value) == f"Invalid Input Error: {message}"


def test_unknown_source_is_a_bad_parameter(tiny_archive):
    says = "annotation_stats: source is 'gpu' or 'host', not 'cpu'"
    with hta_sql.open(tiny_archive) as run, pytest.raises(BadParameter) as error:
        run.annotation_stats(source="cpu")
    assert str(error.value) == says
    for form in ("table", "csv"):
        words = ["run", "annotation_stats", str(tiny_archive), "--source", "cpu", "--format", form]
        result = CliRunner().invoke(cli, words)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.rstrip().endswith(f"Error: {says}")
