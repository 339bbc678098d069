"""folded_stacks: time by what was called."""

import shutil
import subprocess

import duckdb
import pytest
from click.testing import CliRunner
from queries.plans import bad_joins
from queries.stacks.drawn import STEP, THREE, folded

import hta_sql
from hta_sql.cli import cli


def test_time_of_the_gpu(host):
    host.expect(
        "folded_stacks",
        """
        job  rank  stack                                        weight_ns
        j    0     step;linear;addmm;launch;gemm                10
        j    0     step;##~backward~##;evaluate;mm;launch;gemm  7
        j    0     step;##~backward~##;evaluate;mm;launch;k     5
        j    0     alone                                        2
    """,
        activities=THREE,
        ops=STEP,
    )


def test_time_of_the_host(host):
    # step: 44 - 12 - 28; backward: 28 - 3, as evaluate is of another thread
    host.expect(
        "folded_stacks",
        """
        stack                                   weight_ns
        step;##~backward~##                     25
        step;##~backward~##;evaluate;mm         8
        step;##~backward~##;evaluate            6
        step;##~backward~##;evaluate;mm;launch  6
        step;linear;addmm                       6
        later                                   4
        step                                    4
        step;##~backward~##;ones                3
        step;linear                             3
        step;linear;addmm;launch                3
    """,
        activities=THREE,
        ops=STEP,
        weight="host",
    )


def test_selected_steps(host):
    host.fill(THREE.replace("4          5", "4          6"), STEP)
    assert folded(host, only_steps=[6]) == {"step;linear;addmm;launch;gemm": 10}
    assert folded(host, only_steps=[6], weight="host") == {"later": 4}
    assert folded(host, only_steps=[7]) == folded(host, only_steps=[7], weight="host") == {}


def test_what_was_called_in_another_step_is_not_own_time(host):
    host.fill(
        host_ops="""
        event_id  name  start_ns  end_ns  step  depth  root_id  parent_id  stack_hash
        1         a     0         9       1     0      1        -          1
        2         b     5         8       2     1      1        1          12
    """
    )
    assert folded(host, only_steps=[1], weight="host") == {"a": 6}
    assert folded(host, only_steps=[2], weight="host") == {"a;b": 3}


def test_crossing_operations(host):
    # [= 1 =====)           left the stack at 6, where 3 began in it
    #   [2 )
    #       [= 3 ====)
    host.expect(
        "folded_stacks",
        """
        stack  weight_ns
        o;c    9
        o;a    7
        o      5
        o;a;b  3
    """,
        ops="""
        event_id  name  start_ns  end_ns  depth  root_id  parent_id  cut_ns  stack_hash
        0         o     0         20      0      0        -          -       1
        1         a     1         11      1      0        0          7       2
        2         b     3         6       2      0        1          -       3
        3         c     7         16      1      0        0          -       4
    """,
        weight="host",
    )


def test_ranks_and_jobs_of_folded_stacks(host):
    host.expect(
        "folded_stacks",
        """
        job  rank  stack  weight_ns
        i    0     c;k    4
        j    0     a;k    1
        j    1     b;k    2
    """,
        activities="""
        job  rank  name  start_ns  dur_ns  launch_id
        j    0     k     0         1       1
        j    1     k     0         2       1
        i    0     k     0         4       1
    """,
        ops="""
        job  rank  event_id  cat           name  start_ns  dur_ns  depth  root_id  stack_hash
        j    0     1         cuda_runtime  a     0         1       0      1        5
        j    1     1         cuda_runtime  b     0         1       0      1        5
        i    0     1         cuda_runtime  c     0         1       0      1        5
    """,
    )
    assert folded(host, only_jobs=["i"]) == {"c;k": 4}
    assert folded(host, only_ranks=[1]) == {"b;k": 2}
    assert folded(host, only_ranks=[1], weight="host") == {"b": 1}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a;b", "a:b"),
        ("a\nb\r\tc", "a b  c"),
        ("a\u0085b", "a b"),
        ("", "[unknown]"),
        (None, "[unknown]"),
        (" ", " "),
        ("a b 5", "a b 5"),
        ('"a", é', '"a", é'),
    ],
)
def test_names_in_folded_stacks(host, name, shown):
    op = {
        "event_id": 1,
        "cat": "cuda_runtime",
        "name": name,
        "start_ns": 0,
        "dur_ns": 3,
        "depth": 0,
        "root_id": 1,
        "stack_hash": 1,
    }
    host.fill([{"name": name, "start_ns": 0, "dur_ns": 1, "launch_id": 1}], [op])
    assert folded(host) == {f"{shown};{shown}": 1}
    assert folded(host, weight="host") == {shown: 3}
    assert host.broken_promises("folded_stacks") == []


def test_stacks_that_names_make_equal(host):
    host.expect(
        "folded_stacks",
        """
        stack  weight_ns
        a:b    5
    """,
        ops="""
        event_id  name  start_ns  dur_ns  depth  root_id  stack_hash
        1         a;b   0         2       0      1        1
        2         a:b   9         3       0      2        2
    """,
        weight="host",
    )


@pytest.mark.parametrize(("given", "says"), [("cpu", "'cpu'"), ("", "''"), (None, "NULL")])
def test_unknown_weight(host, given, says):
    host.fill()
    with pytest.raises(duckdb.InvalidInputException, match=f"'gpu' or 'host', not {says}$"):
        host.con.execute("FROM folded_stacks_v1(weight := $1)", [given]).fetchall()


# What the documentation tells to turn the rows into the lines that flame graphs are made of.
TO_LINES = r"""1d; s/^"([^"]|"")*",[^,]*,"(.*)",([0-9]+)$/\2 \3/; s/""/"/g"""


@pytest.mark.skipif(not shutil.which("sed"), reason="no sed")
@pytest.mark.parametrize("weight", ["gpu", "host"])
def test_lines_of_flame_graphs(demo_archive, weight):
    arguments = ["run", "folded_stacks", str(demo_archive), "--weight", weight, "--format", "csv"]
    rows = CliRunner().invoke(cli, arguments).stdout_bytes
    lines = subprocess.run(["sed", "-E", TO_LINES], input=rows, capture_output=True, check=True)
    with hta_sql.open(demo_archive) as run:
        wanted = [
            f"{row['stack']} {row['weight_ns']}"
            for row in run.folded_stacks(weight=weight).to_pylist()
        ]
    assert len(wanted) > 10
    assert lines.stdout.decode().splitlines() == wanted


def test_joins(host):
    host.fill(THREE, STEP)
    assert bad_joins(host.con, "FROM folded_stacks_v1(weight := 'host')") == []
    assert bad_joins(host.con, "FROM call_stack_v1(of_event := 5, of_rank := 0)") == []
