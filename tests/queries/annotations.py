"""Drawn annotations."""

# 0         10        20
# [= step =================)           host: 1, and in it 2
#     [= loss =)
#  k1   k2          k4                 launched; k3 by another thread
#    [1)   [2) [3)    [4==)            GPU
#    [= step =============)            GPU: 11, and in it 12
#          [=)
STEP_AND_LOSS = """
    event_id  cat              name  step  start_ns  end_ns  annotation_id  external_id
    1         user_annotation  step  5     0         26      -              71
    2         user_annotation  loss  5     4         14      1              72
    3         cpu_op           mm    5     5         8       2              73
"""


OF_GPU = """
    event_id  cat                  name  pid  tid  start_ns  end_ns  external_id
    11        gpu_user_annotation  step  0    7    3         25      71
    12        gpu_user_annotation  loss  0    7    9         12      72
    13        user_annotation      step  1    1    0         26      71
"""


FOUR = """
    event_id  name  start_ns  end_ns  step  annotation_id
    101       k1    3         6       5     1
    102       k2    9         12      5     2
    103       k3    14        17      6     -
    104       k4    20        25      5     1
"""


ANNOTATION = {"cat": "user_annotation"}


GPU_ANNOTATION = {"cat": "gpu_user_annotation", "pid": "0", "tid": "7"}


def paths(gpu, **parameters):
    """event_id of each activity, its path and where that is from."""
    return {
        row["event_id"]: (row["annotation_path"], row["annotation_source"])
        for row in gpu.run("annotated_kernels", **parameters)
    }
