"""module_stats over drawn calls of modules."""

# What the query's header draws, with times.
#
#   0         10        20        30        40        50        60
#   [ BertModel_0                                )
#      [ BertLayer_0                 )
#         [ Linear_0 )   [ Linear_1 )
#   1        2  3         4             5                              launches
#                                                  [ of 4 )[ of 2  )
#                                                     6      7  8      launches of another thread
BERT = """
    event_id  cat              name                   start_ns  end_ns  module_id  is_backward
    1         python_function  nn.Module:~BertModel_0  0        44      -          false
    2         python_function  nn.Module:~BertLayer_0  3        33      1          false
    3         python_function  nn.Module:~Linear_0     6        17      2          false
    4         python_function  nn.Module:~Linear_1     21       32      2          false
"""


BERT_OPS = (
    BERT.replace("is_backward", "is_backward  forward_id").replace("false", "false  -")
    + """
    10  cpu_op        aten::addmm   7   15  3  false  -
    11  cpu_op        aten::addmm   22  30  4  false  -
    20  cpu_op        AddmmBackward 47  54  -  true   11
    21  cpu_op        AddmmBackward 55  64  -  true   10
    31  cuda_runtime  launch        0   1   1  false  -
    32  cuda_runtime  launch        9   10  3  false  -
    33  cuda_runtime  launch        12  13  3  false  -
    34  cuda_runtime  launch        22  23  4  false  -
    35  cuda_runtime  launch        37  38  1  false  -
    36  cuda_runtime  launch        50  51  -  true   11
    37  cuda_runtime  launch        57  58  -  true   10
    38  cuda_runtime  launch        60  61  -  true   10
"""
)


BERT_ACTIVITIES = """
    event_id  launch_id  start_ns  dur_ns
    101       31         100       1
    102       32         110       2
    103       33         120       4
    104       34         130       8
    105       35         140       16
    106       36         150       32
    107       37         190       64
    108       38         260       128
"""


def test_drawn_in_the_header(host):
    host.expect(
        "module_stats",
        """
        module                            name         depth  count  host_total_ns  host_self_ns
        BertModel_0                       BertModel_0  0      1      44             14
        BertModel_0/BertLayer_0           BertLayer_0  1      1      30             8
        BertModel_0/BertLayer_0/Linear_0  Linear_0     2      1      11             11
        BertModel_0/BertLayer_0/Linear_1  Linear_1     2      1      11             11
    """,
        ops=BERT_OPS,
        activities=BERT_ACTIVITIES,
    )
    host.expect(
        "module_stats",
        """
        name         forward_kernel_count  forward_kernel_ns  forward_self_kernel_ns
        BertModel_0  5                     31                 17
        BertLayer_0  3                     14                 0
        Linear_0     2                     6                  6
        Linear_1     1                     8                  8
    """,
        ops=BERT_OPS,
        activities=BERT_ACTIVITIES,
    )
    host.expect(
        "module_stats",
        """
        name         backward_kernel_count  backward_kernel_ns  backward_self_kernel_ns
        BertModel_0  3                      224                 0
        BertLayer_0  3                      224                 0
        Linear_0     2                      192                 192
        Linear_1     1                      32                  32
    """,
        ops=BERT_OPS,
        activities=BERT_ACTIVITIES,
    )


def test_what_belongs_to_no_module(host):
    """No launch, one of a thread of its own, one of the forward pass of something else."""
    ops = (
        BERT_OPS
        + """
        40  cuda_runtime  launch         70  71  -  false  -
        41  cuda_runtime  launch         72  73  -  true   -
        50  cpu_op        aten::loss     45  46  -  false  -
        51  cuda_runtime  launch         74  75  -  true   50
    """
    )
    host.expect(
        "module_stats",
        """
        module       name         depth  forward_kernel_ns  forward_busy_ns  backward_kernel_ns
        BertModel_0  BertModel_0  0      0                  0                0
        BertModel_0/BertLayer_0           BertLayer_0  1  0  0  0
        BertModel_0/BertLayer_0/Linear_0  Linear_0     2  0  0  0
        BertModel_0/BertLayer_0/Linear_1  Linear_1     2  0  0  0
        -            -            -      11                 7                48
    """,
        ops=ops,
        activities="""
        event_id  launch_id  start_ns  dur_ns
        201       -          0         3
        202       40         1         6
        203       999        5         2
        204       41         10        16
        205       51         30        32
    """,
    )
    [*_, rest] = host.run("module_stats")
    assert rest["count"] == rest["host_total_ns"] == rest["host_self_ns"] == 0
    assert (rest["forward_self_kernel_count"], rest["backward_self_kernel_count"]) == (3, 2)
    assert (rest["forward_self_kernel_ns"], rest["backward_self_kernel_ns"]) == (11, 48)


def test_a_launch_in_a_module_is_its_own_though_of_another_ones_backward_pass(host):
    # A backward pass that is run in a module: of a gradient penalty, or of a checkpoint.
    ops = (
        BERT_OPS
        + """
        60  python_function  nn.Module:~Penalty_0  70  80  -  false  -
        61  cuda_runtime     launch                71  72  60 true   10
    """
    )
    host.expect(
        "module_stats",
        """
        name         forward_kernel_ns  backward_kernel_ns
        BertModel_0  0                  0
        BertLayer_0  0                  0
        Linear_0     0                  0
        Linear_1     0                  0
        Penalty_0    0                  5
    """,
        ops=ops,
        activities="""
        launch_id  start_ns  dur_ns
        61         0         5
    """,
    )


def test_a_module_in_several_places_and_in_itself(host):
    # A [             )   B [   )
    #      A [    )          A [)
    #        A [)
    host.expect(
        "module_stats",
        """
        module  name  depth  count  host_total_ns  host_self_ns  forward_kernel_ns  forward_busy_ns
        A       A     0      1      20             10            7                  6
        A/A     A     1      1      10             7             6                  5
        A/A/A   A     2      1      3              3             4                  4
        B       B     0      1      10             6             8                  8
        B/A     A     1      1      4              4             8                  8
    """,
        ops="""
        event_id  cat              name          start_ns  end_ns  module_id
        1         python_function  nn.Module:~A  0         20      -
        2         python_function  nn.Module:~A  2         12      1
        3         python_function  nn.Module:~A  4         7       2
        4         python_function  nn.Module:~B  30        40      -
        5         python_function  nn.Module:~A  31        35      4
        6         cuda_runtime     launch        1         2       1
        7         cuda_runtime     launch        3         4       2
        8         cuda_runtime     launch        5         6       3
        9         cuda_runtime     launch        32        33      5
    """,
        activities="""
        launch_id  start_ns  dur_ns
        6          100       1
        7          103       2
        8          104       4
        9          110       8
    """,
    )


def test_calls_of_a_place_add_up(host):
    host.expect(
        "module_stats",
        """
        module  count  host_total_ns  host_self_ns  example_event_id  forward_kernel_count
        M       2      30             19            1                 2
        M/L     3      11             11            2                 2
    """,
        ops="""
        event_id  cat              name          tid  start_ns  end_ns  module_id
        8         python_function  nn.Module:~M  1    0         10      -
        9         python_function  nn.Module:~L  1    1         3       8
        2         python_function  nn.Module:~L  1    4         5       8
        1         python_function  nn.Module:~M  2    0         20      -
        5         python_function  nn.Module:~L  2    6         14      1
        6         cuda_runtime     launch        1    2         3       9
        7         cuda_runtime     launch        2    8         9       5
    """,
        activities="""
        launch_id  start_ns  dur_ns
        6          0         1
        7          5         1
    """,
    )
