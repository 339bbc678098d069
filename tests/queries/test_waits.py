"""sync_points: which calls wait, and who called them."""

import pytest
from queries.waits import QUERY


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
