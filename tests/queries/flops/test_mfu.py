"""step_mfu over drawn steps."""

import pytest
from queries.flops.calls import A100, ADD, HALF, call

STEPS = """event_id op_id name cat step start_ns dur_ns input_dims input_types concrete_inputs
           100 - ProfilerStep#1 user_annotation 1 0   100 - - -
           101 - ProfilerStep#2 user_annotation 2 100 200 - - -
"""


HALVES = '[[20,30],[30,40]] ["c10::Half","c10::Half"] ["",""]'  # 48000 operations


def test_mfu(host):
    # 48000 operations in half precision and as many in float, at 1e-3 TFLOP/s, one a ns.
    floats = HALVES.replace("c10::Half", "float")
    host.expect(
        "step_mfu",
        """
        step  time_ns  computation_ns  modelled_ns  coverage_frac  flops  achieved_tflops  mfu_frac
        1     100      80              60           0.75           96000  0.96             0.96
        2     200      50              0            0.0            0      0.0              -
        """,
        ops=STEPS
        + f"""
            1  -  aten::mm  cpu_op  1  0   9  {HALVES}
            2  -  aten::mm  cpu_op  1  10  9  {floats}
            3  -  aten::add cpu_op  1  20  9  {ADD}
            4  -  aten::mm  cpu_op  1  30  9  {HALVES}
        """,
        activities="""
            op_id step kind          start_ns dur_ns
            1     1    computation   50       20
            2     1    computation   70       40
            3     1    computation   120      20
            -     1    communication 140      99
            -     2    computation   150      50
        """,
        peak_tflops=1.0,
    )


def test_mfu_of_each_format_at_its_own_peak(host):
    size = 4096
    floats = call("mm", [[size, size], [size, size]], "float", event_id=1)
    halves = call("mm", [[size, size], [size, size]], HALF, event_id=2)
    longs = call("mm", [[2, 2], [2, 2]], "long", event_id=3)
    activities = [{"op_id": at, "start_ns": 0, "dur_ns": 10**7} for at in (1, 2, 3)]
    host.fill(host_ops=[floats, halves], gpu_activities=activities[:2], traces=A100)
    [row] = host.run("step_mfu")
    assert row["step"] is None  # no steps: over the device's span
    assert row["mfu_frac"] == pytest.approx(2 * size**3 * (1 / 19.5e12 + 1 / 312e12) / 1e-2)
    # There is no peak for long: then there is no figure.
    host.fill(host_ops=[floats, halves, longs], gpu_activities=activities, traces=A100)
    assert host.run("step_mfu")[0]["mfu_frac"] is None
    host.fill(host_ops=[floats], gpu_activities=activities[:1], traces=[{"device_name": "?"}])
    assert host.run("step_mfu")[0]["mfu_frac"] is None


def test_operations_run_once_more(host):
    # In a backward pass: a linear that records an autograd node, as a forward pass does, with its
    # addmm (here mm); and an mm of the gradient, which records none.
    host.expect(
        "step_mfu",
        """
        device  step  flops  recomputed_flops  mfu_frac  hfu_frac
        0       -     96000  48000             0.96      1.44
        """,
        ops="event_id op_id name is_backward sequence_number fwd_thread_id start_ns dur_ns "
        "input_dims input_types concrete_inputs\n"
        + f"""
            1 - aten::mm              false 5 0 0   9  {HALVES}
            2 - AddmmBackward0        true  5 1 10  90 - - -
            3 2 aten::linear          true  7 0 20  30 {HALVES.replace("30,40", "40,30")}
            4 3 aten::mm              true  - - 30  10 {HALVES}
            5 2 aten::mm              true  - - 60  10 {HALVES}
        """,
        activities="op_id start_ns dur_ns\n1 0 20\n4 20 40\n5 60 40",
        peak_tflops=1.0,
    )


def test_outside_steps_is_left_out(host):
    host.expect(
        "step_mfu",
        """
        rank  device  step  time_ns  flops
        0     0       1     100      48000
        0     1       1     100      0
        """,
        ops=STEPS
        + f"""
            1  -  aten::mm  cpu_op  1  0   9  {HALVES}
            2  -  aten::mm  cpu_op  -  500 9  {HALVES}
        """,
        activities="""
            op_id device step start_ns dur_ns
            1     1      1    60       10
            1     0      1    50       20
            2     0      -    600      20
        """,
        peak_tflops=1.0,
    )
