"""sync_points: copies, and the waits behind them."""

import pytest
from queries.waits import QUERY


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
