"""Drawn and random cases of sync_points, and the names of calls that wait."""

import random

import pytest
from queries.brute_sequences import place
from queries.brute_waits import sync_points
from queries.plans import plan
from queries.small_tables import completed
from seeds import seeds

QUERY = "sync_points"
SEEDS = range(4)
JOBS = 25  # in one table, so that a few hundred small cases cost a few dozen calls
UNIX = 1_776_115_350_000_000_000

# Calls of every kind in test_random_calls, and a few that real traces have.
WAITS = ["cudaStreamSynchronize", "urQueueFinish", "synchronizeStream"]
SYNCHRONOUS = ["cudaMemcpy", "hipMemcpyWithStream"]


@pytest.mark.parametrize(
    ("name", "waits"),
    [
        ("cudaDeviceSynchronize", True),
        ("cudaStreamSynchronize", True),
        ("cudaStreamSynchronize_ptsz", True),
        ("cudaEventSynchronize", True),
        ("cudaThreadSynchronize", True),
        ("cuCtxSynchronize", True),
        ("cuStreamSynchronize", True),
        ("hipDeviceSynchronize", True),
        ("hipStreamSynchronize_spt", True),
        ("hipEventSynchronize", True),
        ("synchronize", True),
        ("synchronizeStream", True),
        ("zeEventHostSynchronize", True),
        ("zeCommandQueueSynchronize", True),
        ("aclrtSynchronizeStreamWithTimeout", True),
        ("urQueueFinish", True),
        ("urEventWait", True),
        ("piEventsWait", True),
        ("clFinish", True),
        ("cudaStreamWaitEvent", False),
        ("cudaEventQuery", False),
        ("cudaStreamQuery", False),
        ("cudaEventRecord", False),
        ("cudaMalloc", False),
        ("cudaFree", False),
        ("cudaMemcpy", False),
        ("cudaLaunchKernel", False),
        ("hipStreamWaitEvent", False),
        ("enqueueCommand waitOnEvent", False),
        ("urEnqueueEventsWait", False),
        ("urEnqueueEventsWaitWithBarrier", False),
        ("", False),
        (None, False),
    ],
)
def test_calls_that_wait(host, name, waits):
    [found] = host.con.execute("SELECT waits_for_device($1::VARCHAR)", [name]).fetchall()
    assert found == (waits,)


@pytest.mark.parametrize(
    ("name", "synchronous"),
    [
        ("cudaMemcpy", True),
        ("cudaMemcpy2D", True),
        ("cudaMemcpyFromSymbol", True),
        ("cuMemcpyDtoH_v2", True),
        ("cuMemcpyHtoD_v2", True),
        ("hipMemcpy", True),
        ("hipMemcpyWithStream", True),
        ("hipMemcpyDtoH", True),
        ("cudaMemcpyAsync", False),
        ("cudaMemcpyAsync_ptsz", False),
        ("cuMemcpyDtoHAsync_v2", False),
        ("cuMemcpyDtoD_v2", False),
        ("cudaMemcpyPeer", False),
        ("cudaMemcpyBatchAsync", False),
        ("cudaMemset", False),
        ("enqueueCommand memcpyDtoHAsync", False),
        (None, False),
    ],
)
def test_calls_that_copy_synchronously(host, name, synchronous):
    [found] = host.con.execute("SELECT copies_synchronously($1::VARCHAR)", [name]).fetchall()
    assert found == (synchronous,)


def test_one_wait_has_several_rows(host):
    #                          0         10        20        30        40
    # 1 aten::is_nonzero       [======================================)
    # 2 aten::item                [==================================)
    # 3 _local_scalar_dense          [=============================)
    # 4 cudaMemcpyAsync                [=====)
    # 5 cudaStreamSynchronize                    [===============)
    # GPU                         [======)               [===)
    host.expect(
        QUERY,
        """
        name                       kind      count  host_ns  self_ns  wait_ns  gpu_busy_ns  max_ns
        aten::is_nonzero           operator  1      39       4        22       8            39
        aten::item                 operator  1      35       4        22       8            35
        aten::_local_scalar_dense  operator  1      31       9        22       8            31
        cudaStreamSynchronize      wait      1      16       16       16       4            16
        cudaMemcpyAsync            copy      1      6        6        6        4            6
    """,
        ops="""
        event_id  cat           name                       start_ns  end_ns  op_id
        1         cpu_op        aten::is_nonzero           0         39      -
        2         cpu_op        aten::item                 2         37      1
        3         cpu_op        aten::_local_scalar_dense  4         35      2
        4         cuda_runtime  cudaMemcpyAsync            6         12      3
        5         cuda_runtime  cudaStreamSynchronize      18        34      3
    """,
        activities="""
        kind         name                             start_ns  end_ns  launch_id  launch_end_ns
        computation  k                                3         10      -          -
        memory       Memcpy~DtoH~(Device~->~Pageable) 26        30      4          12
    """,
    )


def test_callers_and_examples(host):
    ops = """
        event_id  cat           name                   start_ns  end_ns  op_id
        10        cpu_op        aten::nonzero          0         9       -
        11        cuda_runtime  cudaStreamSynchronize  1         6       10
        20        cpu_op        fbgemm::jagged         10        19      -
        21        cuda_runtime  cudaStreamSynchronize  11        14      20
        22        cuda_runtime  cudaStreamSynchronize  15        19      20
        30        cuda_runtime  cudaStreamSynchronize  20        90      -
        40        cuda_runtime  cudaDeviceSynchronize  91        92      -
        41        cuda_runtime  cudaDeviceSynchronize  93        94      -
    """
    host.expect(
        QUERY,
        """
        name                   count  host_ns  caller          caller_ns  caller_count  example_event_id
        cudaStreamSynchronize  4      82       fbgemm::jagged  7          2             30
        aten::nonzero          1      9        -               -          0             10
        cudaDeviceSynchronize  2      2        -               -          0             40
    """,  # noqa: E501
        ops=ops,
    )


def test_of_callers_alike_that_of_more_calls_and_then_by_name(host):
    def of(callers):
        rows = "".join(
            f"{n}  cpu_op        {name}                 {9 * n}  {9 * n + 9}  -\n"
            f"{n + 50}  cuda_runtime  cudaStreamSynchronize  {9 * n}  {9 * n + dur}  {n}\n"
            for n, (name, dur) in enumerate(callers)
        )
        host.fill(host_ops=f"event_id cat name start_ns end_ns op_id\n{rows}")
        return next(r["caller"] for r in host.run(QUERY) if r["kind"] == "wait")

    assert of([("b", 4), ("a", 2), ("a", 2)]) == "a"
    assert of([("b", 2), ("a", 4), ("b", 2)]) == "b"
    assert of([("b", 4), ("a", 4)]) == "a"
    assert of([("-", 9), ("a", 0)]) == "a"  # an operator without a name is none


def test_operators_of_aten_through_whatever_lies_between(host):
    host.expect(
        QUERY,
        """
        name                   kind      count  host_ns  self_ns
        aten::outer            operator  1      30       10
        aten::inner            operator  1      20       13
        cudaStreamSynchronize  wait      1      7        7
    """,
        ops="""
        event_id  cat              name                   start_ns  end_ns  op_id
        1         user_annotation  aten::no_operator      0         99      -
        2         cpu_op           aten::outer            0         30      -
        3         cpu_op           Function               1         28      2
        4         Operator         aten::inner            2         22      3
        5         python_function  f                      3         20      4
        6         cuda_runtime     cudaStreamSynchronize  4         11      4
        7         cpu_op           aten::inner            40        60      -
        8         cuda_runtime     cudaLaunchKernel       41        42      7
    """,
    )


def test_an_operator_that_waits_for_nothing_is_none(host):
    """aten::item of a tensor on the CPU."""
    host.expect(
        QUERY,
        """
        name
    """,
        ops="""
        event_id  cat     name                       start_ns  end_ns  op_id
        1         cpu_op  aten::item                 0         30      -
        2         cpu_op  aten::_local_scalar_dense  1         28      1
    """,
    )


@pytest.mark.parametrize(
    ("call", "copy", "copy_end", "kinds"),
    [
        # by its name
        ("cudaMemcpy", "Memcpy HtoD (Pinned -> Device)", 99, ["copy"]),
        ("cudaMemcpy", "Memcpy DtoH (Device -> Pinned)", 5, ["copy"]),
        ("cudaMemcpy", None, None, ["copy"]),
        ("cudaMemcpy", "Memcpy DtoD (Device -> Device)", 99, []),
        ("cudaMemcpy", "Memcpy DtoD (Device -> Device)", 10, ["copy"]),
        ("hipMemcpyWithStream", "Memcpy DtoD (Device -> Device)", 8, ["copy"]),
        ("hipMemcpyWithStream", "CopyHostToDevice", 99, ["copy"]),
        # into pageable memory
        ("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", 99, ["copy"]),
        ("cudaMemcpyAsync", "Memcpy HtoD (Pageable -> Device)", 9, []),
        # where the memory is not said
        ("hipMemcpyAsync", "CopyDeviceToHost", 10, ["copy"]),
        ("hipMemcpyAsync", "CopyDeviceToHost", 11, []),
        ("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", 9, []),
        # others
        ("cudaMemcpyAsync", "Memcpy DtoD (Device -> Device)", 9, []),
        ("cudaMemsetAsync", "Memset (Device)", 9, []),
        ("cudaMemcpyAsync", None, None, []),
    ],
)
def test_copies(host, call, copy, copy_end, kinds):
    host.fill(
        host_ops=[
            {"event_id": 1, "cat": "cuda_runtime", "name": call, "start_ns": 0, "end_ns": 10}
        ],
        gpu_activities=[
            {
                "name": copy,
                "kind": "memory",
                "start_ns": 4,
                "end_ns": copy_end,
                "launch_id": 1,
                "launch_name": call,
                "launch_end_ns": 10,
            }
        ]
        * bool(copy),
    )
    assert [row["kind"] for row in host.run(QUERY)] == kinds


COPY_THEN = """
    event_id  cat           name              start_ns  end_ns  op_id  pid  tid
    1         cuda_runtime  cudaMemcpyAsync   10        20      9      1    1
    9         cpu_op        copy_             0         90      -      1    1
"""
PINNED = """
    kind    name                           start_ns  end_ns  launch_id  launch_end_ns
    memory  Memcpy~DtoH~(Device~->~Pinned) 15        40      1          20
"""


@pytest.mark.parametrize(
    ("others", "waits"),
    [
        ([], False),
        (["cuda_runtime  cudaStreamSynchronize  25  60  9  1  1"], True),
        (["cuda_driver   cuStreamSynchronize    20  20  9  1  1"], True),
        # another call between; one before; one that waits for another reason, or elsewhere
        (
            [
                "cuda_runtime  cudaEventQuery         25  60  9  1  1",
                "cuda_runtime  cudaStreamSynchronize  61  62  9  1  1",
            ],
            False,
        ),
        (["cuda_runtime  cudaStreamSynchronize  3   4   9  1  1"], False),
        (["cuda_runtime  cudaStreamSynchronize  95  99  -  1  1"], False),
        (["cuda_runtime  cudaStreamSynchronize  25  60  9  1  2"], False),
        (["cuda_runtime  cudaStreamSynchronize  25  60  9  -  1"], False),
        # calls inside the copy's, and the wait's, are no others
        (
            [
                "cuda_driver   cuMemcpyDtoHAsync_v2   12  18  9  1  1",
                "cuda_runtime  cudaStreamSynchronize  25  60  9  1  1",
            ],
            True,
        ),
        # operators are no calls
        (
            [
                "cpu_op        aten::add              22  24  9  1  1",
                "cuda_runtime  cudaStreamSynchronize  25  60  9  1  1",
            ],
            True,
        ),
    ],
)
def test_a_copy_to_the_host_and_a_wait(host, others, waits):
    rows = "".join(f"{100 + n}  {row}\n" for n, row in enumerate(others))
    rows = [row.split() for row in rows.splitlines()]
    ops = COPY_THEN + "".join(" ".join(row) + "\n" for row in rows)
    host.fill(PINNED, ops)
    assert [row["name"] for row in host.run(QUERY) if row["kind"] == "copy"] == (
        ["cudaMemcpyAsync"] if waits else []
    )


def test_a_copy_outside_operators_and_threads(host):
    """Where neither is known, the next call is still the next."""
    host.expect(
        QUERY,
        """
        name                   kind  host_ns  caller
        cudaStreamSynchronize  wait  35       -
        cudaMemcpyAsync        copy  10       -
    """,
        ops="""
        event_id  cat           name                   start_ns  end_ns  op_id  pid  tid
        1         cuda_runtime  cudaMemcpyAsync        10        20      -      -    -
        2         cuda_runtime  cudaStreamSynchronize  25        60      -      -    -
    """,
        activities=PINNED,
    )


def test_the_launch_of_a_graph_is_no_copy(host):
    host.expect(
        QUERY,
        """
        name                   kind
        cudaStreamSynchronize  wait
    """,
        ops="""
        event_id  cat           name                   start_ns  end_ns
        1         cuda_runtime  cudaGraphLaunch        10        20
        2         cuda_runtime  cudaStreamSynchronize  25        60
    """,
        activities="""
        kind         name                             start_ns  end_ns  launch_id  launch_end_ns
        memory       Memcpy~DtoH~(Device~->~Pageable) 15        40      1          20
        computation  k                                15        40      1          20
    """,
    )


def test_calls_inside_calls_count_once_in_self_ns(host):
    """MTIA's runtime has one wait inside the other; a driver's call may be in a runtime's."""
    host.expect(
        QUERY,
        """
        name               count  host_ns  self_ns  wait_ns  gpu_busy_ns
        synchronizeStream  1      30       10       30       13
        synchronize        2      28       28       28       13
    """,
        ops="""
        event_id  cat           name               start_ns  end_ns
        1         mtia_runtime  synchronizeStream  0         30
        2         mtia_runtime  synchronize        5         25
        3         mtia_runtime  synchronize        40        48
    """,
        activities="""
        device  start_ns  end_ns
        0       10        20
        1       12        23
        -       50        90
    """,
    )


def test_spans_of_no_length_and_of_one_span(host):
    # The equal ones are inside each other; so are the two of no length.
    host.expect(
        QUERY,
        """
        name  kind      count  host_ns  self_ns  wait_ns
        aten::b  operator  1   10       0        10
        synchronize  wait  3   10       10       10
    """,
        ops="""
        event_id  cat           name         start_ns  end_ns  op_id
        1         cpu_op        aten::b      0         10      -
        2         cuda_runtime  synchronize  0         10      1
        3         cuda_runtime  synchronize  10        10      -
        4         cuda_runtime  synchronize  10        10      -
    """,
    )


def test_one_that_is_crossed(host):
    #                  0    5    10   15
    # aten::a          [=========)
    # wait             [===)
    # synchronize           [========)
    host.expect(
        QUERY,
        """
        name         kind      host_ns  self_ns  wait_ns
        synchronize  wait      10       10       10
        aten::a      operator  10       1        9
        clFinish     wait      4        4        4
    """,
        ops="""
        event_id  cat           name         start_ns  end_ns  cut_ns  op_id
        1         cpu_op        aten::a      0         10      5       -
        2         cuda_runtime  clFinish     0         4       -       1
        3         cuda_runtime  synchronize  5         15      -       -
    """,
    )


def test_busy_is_whatever_device_and_stream(host):
    # 0        10        20        30
    # [=====)  [====)              [==)  device 0
    #    [=====)                         device 1
    #   [==========================)     the wait
    host.expect(
        QUERY,
        """
        name      host_ns  gpu_busy_ns
        clFinish  28       12
    """,
        ops="""
        event_id  cat      name      start_ns  end_ns
        1         Runtime  clFinish  2         30
    """,
        activities="""
        device  stream  start_ns  end_ns
        0       7       0         6
        0       -       9         14
        0       7       30        33
        1       7       3         9
        1       8       5         5
    """,
    )


def test_threads_and_ranks_are_apart(host):
    # The same ids and times on three ranks; two threads wait at once on the last.
    host.expect(
        QUERY,
        """
        job  rank  name         count  host_ns  self_ns  wait_ns  gpu_busy_ns
        j    0     aten::a      1      10       2        8        0
        j    0     synchronize  1      8        8        8        0
        j    1     synchronize  1      8        8        8        3
        k    0     synchronize  2      16       16       16       0
    """,
        ops="""
        job  rank  event_id  cat           name         start_ns  end_ns  op_id  tid
        j    0     1         cpu_op        aten::a      0         10      -      1
        j    0     2         cuda_runtime  synchronize  1         9       1      1
        j    1     2         cuda_runtime  synchronize  1         9       -      1
        k    0     1         cpu_op        aten::a      0         10      -      1
        k    0     2         cuda_runtime  synchronize  1         9       -      2
        k    0     3         cuda_runtime  synchronize  1         9       -      -
    """,
        activities="""
        job  rank  start_ns  end_ns
        j    1     6         20
        l    0     0         90
    """,
    )


STEPS = """
    job  rank  event_id  cat           name         start_ns  end_ns  op_id  step
    j    0     1         cpu_op        aten::a      0         10      -      1
    j    0     2         cuda_runtime  synchronize  1         3       1      1
    j    0     3         cuda_runtime  synchronize  4         9       1      2
    j    0     4         cuda_runtime  synchronize  20        30      -      -
    j    2     4         cuda_runtime  synchronize  20        30      -      1
    k    0     4         cuda_runtime  synchronize  20        30      -      1
"""


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (
            {},
            """
        job  rank  name         count  host_ns  self_ns  wait_ns  gpu_busy_ns  caller
        j    0     synchronize  3      17       17       17       4            aten::a
        j    0     aten::a      1      10       3        7        4            -
        j    2     synchronize  1      10       10       10       0            -
        k    0     synchronize  1      10       10       10       0            -
    """,
        ),
        (
            {"only_jobs": ["k", "x"]},
            """
        job  rank  name
        k    0     synchronize
    """,
        ),
        (
            {"only_ranks": [2]},
            """
        job  rank  name
        j    2     synchronize
    """,
        ),
        # What is not selected is not there; what the devices ran and callers' names are.
        (
            {"only_steps": [1], "only_jobs": ["j"], "only_ranks": [0]},
            """
        job  rank  name         count  host_ns  self_ns  wait_ns  gpu_busy_ns  caller
        j    0     aten::a      1      10       8        2        1            -
        j    0     synchronize  1      2        2        2        1            aten::a
    """,
        ),
        (
            {"only_steps": [2]},
            """
        job  rank  name         count  host_ns  self_ns  wait_ns  gpu_busy_ns  caller
        j    0     synchronize  1      5        5        5        3            aten::a
    """,
        ),
        (
            {"only_steps": []},
            """
        job
    """,
        ),
    ],
)
def test_selection_comes_before_the_measuring(host, only, expected):
    host.expect(
        QUERY,
        expected,
        ops=STEPS,
        activities="""
        job  rank  start_ns  end_ns  step
        j    0     2         7       3
    """,
        **only,
    )


def test_odd_rows_are_no_error(host):
    host.expect(
        QUERY,
        """
        name         kind  count  host_ns
        synchronize  wait  2      3000000000000000000
        -            copy  1      5
    """,
        ops="""
        event_id  cat           name         start_ns             end_ns               op_id
        1         cuda_runtime  synchronize  0                    1000000000000000000  404
        2         cuda_runtime  synchronize  5000000000000000000  7000000000000000000  -
        3         cuda_runtime  -            0                    5                    -
        4         -             synchronize  0                    5                    -
    """,
        activities="""
        kind    name                             start_ns  end_ns  launch_id  launch_end_ns
        memory  Memcpy~DtoH~(Device~->~Pageable) 0         3       3          5
        memory  -                                0         3       -          -
        memory  -                                0         3       77         -
    """,
    )


def test_calls_of_all_kinds_under_one_name(host):
    host.expect(
        QUERY,
        """
        name     kind      count  host_ns  self_ns  wait_ns
        aten::a  operator  2      19       10       18
        b        copy      2      2        2        2
    """,
        ops="""
        event_id  cat           name     start_ns  end_ns  op_id
        1         cpu_op        aten::a  0         10      -
        2         cuda_runtime  aten::a  0         9       1
        3         cuda_runtime  b        20        21      -
        4         cuda_runtime  b        30        31      -
    """,
        activities="""
        kind    name                              start_ns  end_ns  launch_id  launch_end_ns
        memory  Memcpy~DtoH~(Device~->~Pageable)  0         3       2          9
        memory  Memcpy~DtoH~(Device~->~Pageable)  20        23      3          21
        memory  Memcpy~DtoH~(Device~->~Pageable)  30        33      4          31
    """,
    )


def test_operators_deep_inside_one_another(host):
    """A stack of 5,000."""
    depth = 5000
    ops = [
        {
            "event_id": n,
            "cat": "cpu_op",
            "name": f"aten::f{n % 7}",
            "start_ns": n,
            "end_ns": 20_000 - n,
            "op_id": n - 1 if n else None,
        }
        for n in range(depth)
    ]
    ops.append(
        {
            "event_id": depth,
            "cat": "cuda_runtime",
            "name": "synchronize",
            "start_ns": 9000,
            "end_ns": 9010,
            "op_id": depth - 1,
        }
    )
    host.fill(host_ops=ops)
    rows = host.run(QUERY)
    assert sum(row["count"] for row in rows) == depth + 1
    assert sum(row["self_ns"] for row in rows) == 20_000
    assert {row["wait_ns"] for row in rows if row["kind"] == "wait"} == {10}


@pytest.mark.parametrize("given", ["", "only_jobs := ['j']", "only_ranks := [0]"])
@pytest.mark.parametrize("filled", [False, True])
def test_joins_are_by_ids(host, filled, given):
    """DuckDB may join two relations by any key of a third that both are joined with."""
    rows = [
        {
            "event_id": n,
            "cat": "cuda_runtime",
            "name": "synchronize",
            "start_ns": 3 * n,
            "dur_ns": 2,
        }
        for n in range(3000)
    ]
    host.fill(
        host_ops=rows * filled,
        gpu_activities=[{"start_ns": 5 * n, "dur_ns": 2} for n in range(3000)] * filled,
    )
    by_rank_alone = 0
    for node in plan(host.con, f"FROM {QUERY}_v1({given})"):
        conditions = str(node["extra_info"].get("Conditions", ""))
        if "JOIN" in node["name"] and not any(
            one in conditions for one in ("event_id", "op_id", "launch_id", "point")
        ):
            by_rank_alone += 1  # of each rank one row
            assert conditions == "['job = job', 'rank = rank']"
    assert by_rank_alone <= 1
    assert len(host.run(QUERY)) == filled


def test_nothing_at_all(host):
    host.fill()
    assert host.run(QUERY) == []


COPIES = [
    "Memcpy DtoH (Device -> Pageable)",
    "Memcpy DtoH (Device -> Pinned)",
    "CopyDeviceToHost",
    "Memcpy HtoD (Pageable -> Device)",
    "Memcpy DtoD (Device -> Device)",
    "Memset (Device)",
]
CALLS = [*WAITS, *SYNCHRONOUS, "cudaMemcpyAsync", "cudaLaunchKernel", "cudaStreamWaitEvent", None]
OPS = ["aten::item", "aten::copy_", "aten::_local_scalar_dense", "Function", None]


def random_tables(rng):
    activities, ops = [], []
    for number in range(JOBS):
        base, scale = rng.choice([0, UNIX]), rng.choice([1, 1, 900])
        ranks, tids = rng.choice([[0], [0, 1, 3]]), rng.choice([["1"], ["1", "2", None]])
        longest = rng.choice([[0, 1, 2, 5], [1, 3, 9, 30], [0, 2, 8, 20, 60]])
        common = {"job": f"job{number}"}
        calls = rng.sample(CALLS, rng.choice([3, len(CALLS)]))
        for _ in range(rng.choice([0, 8, 30, 60, 120])):
            is_call = rng.random() < 0.5
            ops.append(
                common
                | {
                    "rank": rng.choice(ranks),
                    "tid": rng.choice(tids),
                    "cat": rng.choice(["cuda_runtime", "cuda_driver", "Runtime"])
                    if is_call
                    else rng.choice(["cpu_op", "cpu_op", "Operator", "python_function"]),
                    "name": rng.choice(calls if is_call else OPS),
                    "step": rng.choice([None, 1, 1, 2]),
                    "start_ns": base + scale * rng.randint(0, 60),
                    "dur_ns": scale * rng.choice(longest),
                }
            )
        for _ in range(rng.choice([0, 9, 20])):
            activities.append(
                common
                | {
                    "rank": rng.choice(ranks),
                    "device": rng.choice([None, 0, 1]),
                    "launch_id": None,
                    "start_ns": base + scale * rng.randint(0, 60),
                    "dur_ns": scale * rng.choice(longest),
                }
            )
    ops = [completed("host_ops", row, i) | {"cut_ns": None} for i, row in enumerate(ops)]
    place(ops)
    for op in ops:
        if op["cat"] not in ("cuda_runtime", "Runtime"):
            continue
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            is_copy = rng.random() < 0.9
            activities.append(
                {
                    "job": op["job"],
                    "rank": op["rank"],
                    "device": rng.choice([0, 1]),
                    "step": op["step"],
                    "kind": "memory" if is_copy else "computation",
                    "name": rng.choice(COPIES) if is_copy else "k",
                    "start_ns": op["start_ns"] + rng.choice([0, 2, 900]),
                    "dur_ns": rng.choice([0, 1, 3, 9]),
                    "launch_id": op["event_id"],
                    "launch_name": op["name"],
                    "launch_end_ns": op["end_ns"],
                }
            )
    return [completed("gpu_activities", row, i) for i, row in enumerate(activities)], ops


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_calls(host, seed):
    rng = random.Random(seed)
    activities, ops = random_tables(rng)
    tables = {"gpu_activities": activities, "host_ops": ops}
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": [0, 3],
        "only_steps": rng.choice([[1], [1, 2], []]),
    }
    for given in ({}, parameters, {"only_steps": [1, 2]}):
        wanted = sync_points(activities, ops, WAITS, SYNCHRONOUS, **given)
        host.compare(QUERY, wanted, tables, seed, **given)


def test_random_calls_are_worth_it():
    """Every case that the query has to tell apart comes up, most often."""
    rows, crossed = [], 0
    for seed in SEEDS:
        tables = random_tables(random.Random(seed))
        rows += sync_points(*tables, WAITS, SYNCHRONOUS)
        crossed += sum(op["cut_ns"] is not None for op in tables[1])
    assert crossed > 100
    assert {row["name"] for row in rows} == {
        *WAITS,
        *SYNCHRONOUS,
        "cudaMemcpyAsync",
        "cudaLaunchKernel",
        "cudaStreamWaitEvent",
        None,
        "aten::item",
        "aten::copy_",
        "aten::_local_scalar_dense",
    }
    for kind in ("wait", "copy", "operator"):
        of_kind = [row for row in rows if row["kind"] == kind]
        assert sum(row["count"] > 1 for row in of_kind) > 20
        assert sum(row["caller_count"] > 1 for row in of_kind) > 1
        assert sum(row["caller"] is None for row in of_kind) > 20
        assert sum(0 < row["self_ns"] < row["host_ns"] for row in of_kind) > 10
        assert sum(0 < row["gpu_busy_ns"] < row["wait_ns"] for row in of_kind) > 20
    operators = [row for row in rows if row["kind"] == "operator"]
    assert sum(0 < row["wait_ns"] < row["host_ns"] for row in operators) > 20


def random_intervals(rng, count):
    rows = [
        (rng.randint(0, 3), rng.randint(0, 40), rng.choice([0, 1, 5, 20])) for _ in range(count)
    ]
    return [(group, start, start + length) for group, start, length in rows]


@pytest.mark.parametrize("seed", seeds(20))
def test_covered_until(host, seed):
    """Time is a set of instants here."""
    rng = random.Random(seed)
    intervals = random_intervals(rng, rng.choice([0, 1, 10, 40]))
    asked = [(group, at) for group, at, _ in random_intervals(rng, 30)]
    host.con.execute(
        "CREATE OR REPLACE TEMP TABLE t1 (group_id BIGINT, start_ns BIGINT, end_ns BIGINT)"
    )
    host.con.execute(
        "CREATE OR REPLACE TEMP TABLE t2 (instant_id BIGINT, group_id BIGINT, at_ns BIGINT)"
    )
    host.con.executemany("INSERT INTO t1 VALUES (?, ?, ?)", intervals or [(9, 0, 1)])
    host.con.executemany(
        "INSERT INTO t2 VALUES (?, ?, ?)", [(number, *one) for number, one in enumerate(asked)]
    )
    found = host.con.execute("FROM covered_until(t1, t2) ORDER BY ALL").fetchall()
    covered = {(group, at) for group, start, end in intervals for at in range(start, end)}
    assert found == [
        (number, sum((group, at) in covered for at in range(until)))
        for number, (group, until) in enumerate(asked)
    ]


def test_a_graph_of_copies_is_no_blocking_copy(host):
    host.expect(
        "sync_points",
        "job rank name\n",
        ops="""
        event_id  cat           name             start_ns  dur_ns
        1         cuda_runtime  cudaGraphLaunch  0         50
        """,
        activities="""
        event_id  cat         kind    name                                 start_ns  dur_ns  launch_id  launch_name      launch_start_ns  launch_end_ns
        8         gpu_memcpy  memory  Memcpy~DtoH~(Device~->~Pageable)     10        5       1          cudaGraphLaunch  0                50
        9         gpu_memcpy  memory  Memcpy~DtoH~(Device~->~Pageable)     20        5       1          cudaGraphLaunch  0                50
        """,  # noqa: E501
    )
