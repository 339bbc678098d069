"""step_breakdown: steps measured alone, and selected ones as one."""

STEPS = """
    step  kind           start_ns  end_ns
    -     memory         0         2
    1     computation    4         10
    1     communication  14        20
    2     computation    12        17
    2     computation    18        22
    -     computation    30        31
"""


# 0         10        20        30
# [=)                           [)   outside steps
#     [=====)   [=====)              step 1: 4 to 20
#             [====)[===)            step 2: 12 to 22, beside step 1


def test_steps_are_measured_alone(gpu):
    gpu.expect(
        "step_breakdown",
        f"""
        job  rank  device  step  span_ns  busy_ns  idle_ns  compute_ns  idle_frac
        j    0     0       1     16       12       4        6           {4 / 16}
        j    0     0       2     10       9        1        9           {1 / 10}
    """,
        activities=STEPS,
    )
    gpu.expect(
        "step_breakdown",
        """
        step  communication_ns  exposed_communication_ns
        1     6                 6
    """,
        activities=STEPS,
        only_steps=[1, 9],
    )


def test_selected_steps_as_one(gpu):
    gpu.expect(
        "temporal_breakdown",
        """
        span_ns  busy_ns  exposed_communication_ns
        16       12       6
    """,
        activities=STEPS,
        only_steps=[1],
    )
    gpu.expect(
        "temporal_breakdown",
        """
        span_ns  busy_ns  exposed_communication_ns
        18       16       1
    """,
        activities=STEPS,
        only_steps=[1, 2],
    )
    gpu.expect(
        "comm_comp_overlap",
        f"""
        communication_ns  overlap_ns  overlap_frac
        6                 5           {5 / 6}
    """,
        activities=STEPS,
    )
    gpu.expect(
        "comm_comp_overlap",
        """
        communication_ns  overlap_ns  overlap_frac
        6                 0           0.0
    """,
        activities=STEPS,
        only_steps=[1],
    )


def test_same_step_of_two_ranks(gpu):
    gpu.expect(
        "step_breakdown",
        """
        rank  device  step  span_ns
        0     0       1     5
        0     1       1     6
        1     0       1     7
        1     0       2     4
    """,
        activities="""
        rank  device  step  start_ns  end_ns
        1     0       2     103       107
        1     0       1     100       107
        0     1       1     0         6
        0     0       1     3         8
        0     0       -     3         80
    """,
    )
