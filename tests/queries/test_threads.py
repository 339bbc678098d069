"""thread_stats: kinds, roles and names of threads."""

import pytest


def test_drawn_in_the_header(host):
    #               0         10        20        30
    # annotation    [= step ==============)          [=====)
    # operator          [========)
    # runtime             [==)  [=====)
    #               aaaaoorrrooorrrrrraaaa           aaaaaa
    host.expect(
        "thread_stats",
        """
        start_ns  span_ns  busy_ns  annotation_ns  operator_ns  runtime_ns  python_ns  sync_ns
        100       39       28       14             5            9           0          0
    """,
        ops="""
        event_id  cat              name   start_ns  end_ns  parent_id  cut_ns
        1         user_annotation  step   100       122     -          -
        2         cpu_op           op     104       113     1          112
        3         cuda_runtime     call   106       109     2          -
        4         cuda_runtime     call   112       118     1          -
        5         user_annotation  other  133       139     -          -
    """,
    )


def test_kinds(host):
    host.expect(
        "thread_stats",
        """
        tid  busy_ns  operator_ns  annotation_ns  python_ns  runtime_ns  sync_ns  data_loading_ns
        1    96       3            4              8          16          64       1
    """,
        ops="""
        cat              name                         start_ns  dur_ns
        cpu_op           aten::mm                     0         1
        Operator         aten::mm                     10        2
        user_annotation  note                         20        4
        python_function  model.py(1):~synchronize     30        8
        cuda_runtime     cudaLaunchKernel             40        1
        Runtime          cudaMalloc                   50        2
        cuda_driver      cuLaunchKernel               60        4
        mtia_runtime     -                            70        9
        cuda_runtime     hipDeviceSynchronize         100       16
        mtia_runtime     synchronizeStream            200       32
        cuda_driver      cuStreamSynchronize          300       16
        user_annotation  enumerate(DataLoader)#It.x   400       1
    """,
    )
    host.expect(
        "thread_stats",
        """
        op_count  annotation_count  python_count  runtime_count  launch_count
        2         1                 1             2              0
    """,
        ops="""
        cat              name                  start_ns  dur_ns
        cpu_op           enumerate(DataLoader)#A 0       1
        Operator         aten::mm              10        2
        user_annotation  note                  20        4
        python_function  model.py              30        8
        cuda_runtime     cudaLaunchKernel      40        1
        cuda_runtime     cudaEventSynchronize  50        2
    """,
    )


def test_what_lies_in_a_loader_is_loading(host):
    # annotation   [ enumerate(DataLoader)# )
    # op              [ stack   )                      in it
    # runtime            [ sync )                      in it
    # python                             [ after )     crosses it
    # op                                  [)           in both
    host.expect(
        "thread_stats",
        """
        busy_ns  data_loading_ns  operator_ns  python_ns  sync_ns
        32       25               0            7          0
    """,
        ops="""
        event_id  cat              name                         start_ns  end_ns  parent_id  cut_ns
        1         user_annotation  enumerate(DataLoader)#It.n   0         26      -          22
        2         cpu_op           aten::stack                  3         12      1          -
        3         cuda_runtime     cudaStreamSynchronize        6         12      2          -
        4         python_function  after                        22        32      -          -
        5         cpu_op           aten::item                   23        26      4          -
    """,
    )


@pytest.mark.parametrize(
    ("cat", "name", "loading_ns"),
    [
        ("cpu_op", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 9),
        ("Operator", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 9),
        ("user_annotation", "enumerate(DataPipe)#x", 0),
        ("python_function", "enumerate(DataLoader)#x", 0),
        ("cuda_runtime", "enumerate(DataLoader)#x", 0),
    ],
)
def test_loaders(host, cat, name, loading_ns):
    # [ loader )
    #  [ a )
    #   [b)
    #           [c)
    host.expect(
        "thread_stats",
        f"""
        busy_ns  data_loading_ns
        12       {loading_ns}
    """,
        ops=f"""
        event_id  cat              name    start_ns  end_ns  parent_id
        1         {cat}            {name}  0         9       -
        2         user_annotation  a       1         5       1
        3         python_function  b       2         5       2
        4         python_function  c       10        13      -
    """,
    )


def test_a_loader_is_of_its_thread(host):
    # Of equal spans the one with the lower event_id is the outer one.
    host.expect(
        "thread_stats",
        """
        tid  busy_ns  data_loading_ns  operator_ns
        1    9        9                0
        3    9        0                9
        2    7        0                7
    """,
        ops="""
        event_id  tid  cat     name                     start_ns  end_ns  parent_id
        1         1    cpu_op  enumerate(DataLoader)#I  0         9       -
        2         1    cpu_op  aten::stack              0         9       1
        3         2    cpu_op  aten::mm                 1         8       -
        4         3    cpu_op  aten::mm                 0         9       -
        5         3    cpu_op  enumerate(DataLoader)#I  9         9       -
    """,
    )


def test_spans_of_no_length(host):
    host.expect(
        "thread_stats",
        """
        tid  start_ns  span_ns  busy_ns  op_count
        1    5         15       4        3
        2    7         0        0        1
    """,
        ops="""
        event_id  tid  start_ns  end_ns  parent_id
        1         1    5         5       -
        2         1    10        14      -
        3         1    20        20      -
        4         2    7         7       -
    """,
    )


def test_roles(host):
    host.expect(
        "thread_stats",
        """
        rank  pid  tid  role
        0     5    5    -
        0     5    6    main
        0     5    7    autograd
        0     8    8    -
        1     5    5    main
        1     5    6    autograd
        1     5    7    -
        1     8    8    main
        1     -    -    -
        2     5    5    -
        2     5    6    main
        3     5    6    -
        4     5    5    main
    """,
        ops="""
        rank  pid  tid  start_ns  dur_ns  cat              name
        0     5    6    0         0       user_annotation  ProfilerStep#3
        0     5    6    0         1       cpu_op           autograd::engine::evaluate_function:~A
        0     5    7    0         1       cpu_op           torch::autograd::AccumulateGrad
        0     5    5    0         1       cpu_op           aten::mm
        0     8    8    0         1       python_function  ProfilerStep#3
        1     5    5    0         1       cpu_op           autograd::engine::evaluate_function:~A
        1     5    6    0         1       Operator         autograd::engine::evaluate_function:~A
        1     5    7    0         1       python_function  autograd::engine::evaluate_function:~A
        1     8    8    0         1       cpu_op           ProfilerStep
        1     -    -    0         1       cpu_op           -
        2     5    5    0         1       cpu_op           aten::mm
        2     5    6    0         1       Operator         ProfilerStep~#~4
        3     5    6    0         1       cpu_op           -
        4     5    5    0         1       cuda_runtime     -
    """,
    )


def test_roles_do_not_depend_on_the_selected_steps(host):
    host.expect(
        "thread_stats",
        """
        tid  role      op_count
        2    main      1
        3    autograd  1
    """,
        ops="""
        pid  tid  step  cat              name            start_ns  dur_ns
        1    1    -     cpu_op           op              0         9
        1    2    1     user_annotation  ProfilerStep#1  10        9
        1    2    2     cpu_op           op              21        1
        1    3    1     cpu_op           autograd::x     15        1
        1    3    2     cpu_op           op              25        1
    """,
        only_steps=[2],
    )


def test_names(host):
    # The last one counts; not those of other processes and ranks, and of no use.
    host.fill(
        host_ops="""
            rank  pid  tid  start_ns  dur_ns
            0     1    2    0         9
            0     1    3    0         8
            0     4    2    0         7
            1     1    2    0         6
            1     -    2    0         5
            1     1    -    0         4
        """,
        events=[
            {
                "rank": rank,
                "event_id": at,
                "ph": ph,
                "name": name,
                "pid": pid,
                "tid": tid,
                "args": args,
            }
            for at, (rank, ph, name, pid, tid, args) in enumerate(
                [
                    (0, "M", "thread_name", "1", "2", '{"name": "thread 2 (python3)"}'),
                    (0, "M", "thread_name", "1", "2", '{"name": "thread 2 (pt_autograd_0)"}'),
                    (0, "M", "thread_sort_index", "1", "2", '{"name": "no"}'),
                    (0, "X", "thread_name", "1", "2", '{"name": "no"}'),
                    (0, "M", "thread_name", "1", "2", None),
                    (0, "M", "thread_name", "1", "2", "no JSON"),
                    (0, "M", "thread_name", "1", "2", "{}"),
                    (0, "M", "process_name", "1", "3", '{"name": "no"}'),
                    (0, "M", "thread_name", "1", None, '{"name": "no"}'),
                    (1, "M", "thread_name", "1", "2", '{"name": "other"}'),
                    (1, "M", "thread_name", None, "2", '{"name": "of no process"}'),
                    (1, "M", "thread_name", "1", None, '{"name": "of no thread"}'),
                ]
            )
        ],
    )
    assert [row["thread_name"] for row in host.run("thread_stats")] == [
        "thread 2 (pt_autograd_0)",
        None,
        None,
        "other",
        "of no process",
        "of no thread",
    ]
