"""op_flops over drawn operators."""

import pytest
from queries.flops.calls import A100, ADD, BF16, call

MM = '[[2,3],[3,4]] ["float","float"] ["",""]'


LINEAR = '[[2,3],[4,3]] ["float","float"] ["",""]'


COPY = '[[2,4],[2,4],[]] ["float","float","Scalar"] ["","","False"]'


OPS = "event_id op_id name step start_ns dur_ns input_dims input_types concrete_inputs\n"


def test_nested_operators_count_once(host):
    # linear  [==========================)        not counted
    # t        [=)                                unknown
    # addmm       [================)              counted, as mm here
    # copy_         [===)                         the addmm's
    # copy_                         [==)          counted: the linear does not
    # launch          1      2       3
    host.expect(
        "op_flops",
        """
        name          is_counted  count  flops  kernel_count  kernel_ns
        aten::linear  false       1      48     3             35
        aten::mm      true        1      48     2             30
        aten::copy_   false       1      -      1             10
        aten::copy_   true        1      -      1             5
        """,
        ops=OPS
        + f"""
            1  -  aten::linear  -  0  100  {LINEAR}
            2  1  aten::t       -  1  5    -  -  -
            3  1  aten::mm      -  10 50   {MM}
            4  3  aten::copy_   -  12 9    {COPY}
            5  1  aten::copy_   -  70 9    {COPY}
        """,
        activities="""
            op_id start_ns dur_ns
            4     100      10
            3     110      20
            5     130      5
        """,
    )


def test_through_operators_of_unknown_cost(host):
    # linear > matmul > expand > mm: what is between does not hide the mm from the linear.
    host.expect(
        "op_flops",
        """
        name          is_counted  count  flops  kernel_ns
        aten::linear  false       1      48     27
        aten::mm      true        1      48     20
        """,
        ops=OPS
        + f"""
            1  -  aten::linear  -  0  100  {LINEAR}
            2  1  aten::matmul  -  1  90   -  -  -
            3  2  aten::expand  -  2  80   -  -  -
            4  3  aten::mm      -  10 50   {MM}
        """,
        activities="""
            op_id start_ns dur_ns
            4     100      20
            2     130      7
        """,
    )


def test_roofline(host):
    # mm: 48 operations, 104 bytes. At 2 GB/s, 52 ns; at 1e-3 TFLOP/s = 1 a ns, 48 ns. Two of the
    # three calls launched, in 80 ns together.
    ops = (
        OPS
        + f"""
        1  -  aten::mm  -  0   9  {MM}
        2  -  aten::mm  -  10  9  {MM}
        3  -  aten::mm  -  20  9  {MM}
        4  -  aten::add -  30  9  {ADD}
    """
    )
    activities = "op_id start_ns dur_ns\n1 100 50\n2 200 30\n4 300 96"
    columns = """
        name  count  launching_call_count  flops  bytes  achieved_tflops  achieved_gbps
        arithmetic_intensity  bound  roofline_frac
    """.split()

    def expect(rows, **parameters):
        text = " ".join(columns) + "\n" + "\n".join(rows)
        host.expect("op_flops", "\n" + text, ops=ops, activities=activities, **parameters)

    expect(
        [
            "aten::add  1 1 -   96  -      1.0 -                  memory  0.5",
            f"aten::mm  3 2 144 312 0.0012 2.6 {48 / 104} memory {2 * 52 / 80}",
        ],
        peak_tflops=0.001,
        peak_gbps=2.0,
    )
    expect(
        [
            "aten::add  1 1 -   96  -      1.0 -                  memory  0.25",
            f"aten::mm  3 2 144 312 0.0012 2.6 {48 / 104} compute {2 * 48 / 80}",
        ],
        peak_tflops=0.001,
        peak_gbps=4.0,
    )
    # Neither is known.
    expect(
        [
            "aten::add  1 1 -   96  -      1.0 -                  memory  -",
            f"aten::mm  3 2 144 312 0.0012 2.6 {48 / 104} - -",
        ]
    )
    expect(
        [
            "aten::add  1 1 -   96  -      1.0 -                  memory  -",
            f"aten::mm  3 2 144 312 0.0012 2.6 {48 / 104} - -",
        ],
        peak_tflops=0.001,
    )


def test_peaks_by_device_and_kernels(host):
    def rows(device, kernel):
        dims = [[4096, 4096], [4096, 4096]]
        host.fill(
            host_ops=[call("mm", dims, "float", event_id=1)],
            gpu_activities=[{"op_id": 1, "start_ns": 10, "dur_ns": 10**7, "name": kernel}],
            traces=[{"device_name": device}],
        )
        [row] = host.run("op_flops")
        return row["dtype"], row["roofline_frac"], row["bound"]

    flops = 2 * 4096**3
    assert rows("NVIDIA A100-SXM4-40GB", "ampere_sgemm_128x64_tn") == (
        "float32",
        pytest.approx(flops / 19.5e12 / 1e-2),
        "compute",
    )
    assert rows("NVIDIA A100-SXM4-40GB", "cutlass_80_tensorop_s1688gemm_128x128") == (
        "tf32",
        pytest.approx(flops / 156e12 / 1e-2),
        "compute",
    )
    assert rows("Tesla V100-SXM2-16GB", "volta_sgemm_128x64_tn") == (
        "float32",
        pytest.approx(flops / 15.7e12 / 1e-2),
        "compute",
    )
    # AMD's matrix cores know float32.
    assert rows("AMD Instinct MI300X", "Cijk_Ailk_Bljk_SB_MT128x128x16_MI32x32x1") == (
        "float32",
        pytest.approx(flops / 163.4e12 / 1e-2),
        "compute",
    )
    for unknown in ("AMD Radeon Graphics", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "ARTEMIS", None):
        assert rows(unknown, "gemm") == ("float32", None, None)


def test_peaks_are_plausible(host):
    rows = host.con.execute("FROM device_peaks").fetchall()
    by_device = {}
    for device, dtype, tflops, gbps, reference in rows:
        assert 0 < tflops < 20_000 and 100 < gbps < 10_000 and reference
        assert dtype not in by_device.setdefault(device, {})
        by_device[device][dtype] = tflops
    for device, peaks in by_device.items():
        assert peaks["float32"] <= peaks["float16"], device
        assert peaks.get("bfloat16", peaks["float16"]) == peaks["float16"], device
        assert peaks["float32"] <= peaks.get("tf32", peaks["float32"]) <= peaks["float16"], device
    assert by_device["NVIDIA H100 80GB HBM3"]["bfloat16"] == 989.4  # 1978.9 is with sparsity
    assert by_device["NVIDIA A100-PG509-200"] == by_device["NVIDIA A100-SXM4-40GB"]


def test_view_of_peaks_can_be_replaced(host):
    [(was,)] = host.con.execute(
        "SELECT sql FROM duckdb_views() WHERE view_name = 'device_peaks'"
    ).fetchall()
    host.fill(
        host_ops=[call("mm", [[64, 64], [64, 64]], BF16, event_id=1)],
        gpu_activities=[{"op_id": 1, "start_ns": 10, "dur_ns": 100}],
        traces=[{"device_name": "mine"}],
    )
    assert host.run("op_flops")[0]["roofline_frac"] is None
    host.con.execute("""
        CREATE OR REPLACE VIEW device_peaks AS
        SELECT 'mine' AS device_name, 'bfloat16' AS dtype, 1.0::DOUBLE AS dense_tflops,
            100000.0::DOUBLE AS memory_gbps, 'me' AS reference
    """)
    try:
        assert host.run("op_flops")[0]["roofline_frac"] == 2 * 64**3 / 1e3 / 100
    finally:
        host.con.execute(was.replace("CREATE VIEW", "CREATE OR REPLACE VIEW"))


def test_estimated(host):
    packed = call(
        "_flash_attention_forward",
        [[10, 4, 8]] * 3 + [[4], [4], *[[]] * 10],
        BF16,
        {5: "5", 6: "5", 8: "False"},
        event_id=1,
    )
    window = call(
        "_flash_attention_forward",
        [[1, 10, 4, 8]] * 3 + [[]] * 12,
        BF16,
        {8: "False", 11: "3", 12: "0"},
        event_id=2,
    )
    host.fill(
        host_ops=[packed, window],
        traces=A100,
        gpu_activities=[{"op_id": at, "start_ns": 10, "dur_ns": 100} for at in (1, 2)],
    )
    found = {row["is_estimated"]: row["flops"] for row in host.run("op_flops")}
    assert [row["is_estimated"] for row in host.run("op_flops")] == [True, True]
    assert found == {True: 2 * 4 * 100 * 16} or {6400, 12800} == {
        row["flops"] for row in host.run("op_flops")
    }
    # No guess in MFU: they explain nothing there.
    [row] = host.run("step_mfu")
    assert (row["flops"], row["modelled_ns"], row["mfu_frac"]) == (0, 0, None)


def test_steps_are_selected_first(host):
    ops = (
        OPS
        + f"""
        1  -  aten::mm  1  0   9  {MM}
        2  -  aten::mm  2  10  9  {MM}
        3  -  aten::mm  -  20  9  {MM}
    """
    )
    activities = "op_id step start_ns dur_ns\n1 1 100 10\n2 2 110 20\n3 - 130 40"
    for given, count, ns in (
        ({}, 3, 70),
        ({"only_steps": [2]}, 1, 20),
        ({"only_steps": [1, 2]}, 2, 30),
    ):
        host.expect(
            "op_flops", f"\ncount kernel_ns\n{count} {ns}", ops=ops, activities=activities, **given
        )
