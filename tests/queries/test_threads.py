"""thread_stats over small tables: drawn cases, and random ones against plain Python."""

import random
from collections import Counter

import pytest
from queries.brute_threads import KINDS, category, is_loader, thread_stats
from queries.stacked import with_places
from seeds import seeds


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


def test_what_threads_launched(host):
    # 0         10        20
    # [======)                  device 0, stream 7
    #    [========)             device 1, of the same launch
    #      |                    no length
    #                 [==)     no device known
    host.expect(
        "thread_stats",
        """
        pid  tid  runtime_count  launch_count  kernel_count  kernel_ns  kernel_busy_ns
        1    1    3              3             4             19         15
        1    2    1              1             1             9          9
        2    1    1              0             0             0          0
        -    1    1              1             1             5          5
    """,
        ops="""
        event_id  pid  tid  cat           start_ns  dur_ns
        1         1    1    cuda_runtime  0         4
        2         1    1    cuda_driver   10        4
        3         1    1    cuda_runtime  20        4
        4         1    2    cuda_runtime  0         3
        5         2    1    cuda_runtime  0         2
        6         -    1    cuda_runtime  0         2
    """,
        activities="""
        launch_id  launch_pid  launch_tid  device  stream  start_ns  end_ns
        1          1           1           0       7       0         7
        1          1           1           1       7       3         12
        2          1           1           0       -       5         5
        3          1           1           -       7       17        20
        4          1           2           0       7       0         9
        6          -           1           0       7       0         5
        -          -           -           0       7       0         30
        -          1           1           0       7       0         30
    """,
    )


def test_time_of_steps(host):
    # step     1              2              3
    # python   [ loop                                  )     begun before all
    # note       [ one       )[ two          )
    # op           [ late                 )                  begun in 1, crosses one
    # op              [)       [)                            of 1 and 2
    ops = """
        event_id  step  cat              name  start_ns  end_ns  parent_id  cut_ns
        1         -     python_function  loop  0         60      -          -
        2         1     user_annotation  one   3         20      1          6
        3         1     cpu_op           late  6         30      1          20
        4         1     cpu_op           op    8         10      3          -
        5         2     user_annotation  two   20        45      1          -
        6         2     cpu_op           op    22        25      5          -
        7         3     cuda_runtime     call  40        44      5          -
    """
    activities = """
        launch_id  launch_pid  launch_tid  step  start_ns  dur_ns
        4          1           1           1     0         1
        6          1           1           2     5         2
        7          1           1           3     9         4
    """
    host.expect(
        "thread_stats",
        """
        start_ns  span_ns  busy_ns  annotation_ns  operator_ns  python_ns  op_count  kernel_ns
        3         27       17       3              14           0          2         1
    """,
        ops=ops,
        activities=activities,
        only_steps=[1],
    )
    host.expect(
        "thread_stats",
        """
        start_ns  span_ns  busy_ns  annotation_ns  operator_ns  runtime_ns  op_count  kernel_ns
        20        25       25       18             3            4           1         6
    """,
        ops=ops,
        activities=activities,
        only_steps=[2, 3],
    )
    host.expect(
        "thread_stats",
        """
        start_ns  span_ns  busy_ns  annotation_ns  operator_ns  python_ns  op_count  kernel_ns
        0         60       60       21             17           18         3         7
    """,
        ops=ops,
        activities=activities,
    )


def test_a_thread_without_spans_in_the_steps_has_no_row(host):
    ops = """
        tid  step  start_ns  dur_ns
        1    1     0         2
        2    2     0         4
        3    -     0         8
    """
    host.expect(
        "thread_stats",
        """
        tid  busy_ns
        2    4
    """,
        ops=ops,
        only_steps=[2],
    )
    host.expect(
        "thread_stats",
        """
        tid  busy_ns
    """,
        ops=ops,
        only_steps=[4],
    )


def test_the_busiest_thread_comes_first(host):
    ops = """
        job  rank  pid  tid  event_id  start_ns  dur_ns  parent_id
        j    1     1    2    1         0         5       -
        j    1     1    10   2         0         5       -
        j    1     1    -    3         0         5       -
        j    1     1    3    4         0         9       -
        j    1     1    3    5         0         9       4
        j    0     2    1    1         0         1       -
        i    1     2    1    1         0         2       -
        i    1     2    2    4         0         3       -
    """
    host.expect(
        "thread_stats",
        """
        job  rank  pid  tid  busy_ns
        i    1     2    2    3
        i    1     2    1    2
        j    0     2    1    1
        j    1     1    3    9
        j    1     1    10   5
        j    1     1    2    5
        j    1     1    -    5
    """,
        ops=ops,
    )
    host.expect(
        "thread_stats",
        """
        job  rank  tid
        j    0     1
    """,
        ops=ops,
        only_jobs=["j"],
        only_ranks=[0, 7],
    )


def test_nothing_at_all(host):
    host.fill()
    assert host.run("thread_stats") == []
    host.fill("""
        launch_id  launch_pid  launch_tid  start_ns  dur_ns
        1          1           1           0         1
    """)
    assert host.run("thread_stats") == []


# Random ones

SEEDS = range(24)
CATS = ["cpu_op", "Operator", "user_annotation", "python_function", "cuda_runtime", "cuda_driver"]
NAMES = [
    None,
    "aten::mm",
    "cudaStreamSynchronize",
    "autograd::x",
    "ProfilerStep#1",
    "enumerate(DataLoader)#It.__next__",
]
THREADS = [("1", "1"), ("1", "2"), ("2", "1"), (None, "2"), ("1", None)]


def random_tables(rng: random.Random) -> dict[str, list[dict]]:
    ops, activities, events = [], [], []
    for job, rank in [("i", 0), ("j", 0), ("j", 2)][: rng.choice([1, 3])]:
        ids = rng.sample(range(100), 60)
        for pid, tid in rng.sample(THREADS, rng.choice([1, 3])):
            for _ in range(rng.choice([1, 4, 12, 18])):
                start = rng.randrange(40)
                ops.append(
                    {
                        "job": job,
                        "rank": rank,
                        "event_id": ids.pop(),
                        "pid": pid,
                        "tid": tid,
                        "cat": rng.choice(CATS),
                        "name": rng.choice(NAMES),
                        "step": rng.choice([None, 1, 1, 2]),
                        "start_ns": start,
                        "end_ns": start + rng.choice([0, 1, 2, 5, 9, 20, 40]),
                    }
                )
        launches = [
            op for op in ops if (op["job"], op["rank"]) == (job, rank) and category(op) == "runtime"
        ]
        for _ in range(rng.choice([0, 5, 20])):
            launch = rng.choice([None, *launches])
            start = rng.randrange(60)
            activities.append(
                {
                    "job": job,
                    "rank": rank,
                    "event_id": 100 + len(activities),
                    "device": rng.choice([None, 0, 1]),
                    "stream": rng.choice([None, 7]),
                    "launch_id": launch and launch["event_id"],
                    "step": launch and launch["step"],
                    "launch_pid": launch and launch["pid"],
                    "launch_tid": launch and launch["tid"],
                    "start_ns": start,
                    "end_ns": start + rng.choice([0, 1, 2, 5, 20]),
                }
            )
        for _ in range(rng.choice([0, 4])):
            pid, tid = rng.choice(THREADS)
            events.append(
                {
                    "job": job,
                    "rank": rank,
                    "event_id": 200 + len(events),
                    "pid": pid,
                    "tid": tid,
                    "ph": rng.choice(["M", "M", "M", "X"]),
                    "name": rng.choice(["thread_name", "x"]),
                    "args": rng.choice([None, "{", '{"name": "one"}', '{"name": "two"}']),
                }
            )
    for row in ops + activities:
        row["dur_ns"] = row["end_ns"] - row["start_ns"]
    with_places(ops)
    return {"gpu_activities": activities, "host_ops": ops, "events": events}


def random_selection(rng: random.Random) -> dict:
    given = {"only_jobs": ["j"], "only_ranks": [0, 1], "only_steps": rng.choice([[1], [2, 3]])}
    return {name: value for name, value in given.items() if rng.random() < 0.4}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_rows(host, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    given = random_selection(rng) if seed % 3 == 0 else {}
    wanted = thread_stats(*tables.values(), **given)
    host.compare("thread_stats", wanted, tables, seed, **given)


def test_random_rows_are_worth_it():
    """Every case that the query has to tell apart comes up."""
    seen = Counter()
    for seed in SEEDS:
        tables = random_tables(random.Random(seed))
        found = thread_stats(*tables.values())
        for row in found:
            seen["role", row["role"]] += 1
            seen["named"] += row["thread_name"] is not None
            seen["overlapping kernels"] += row["kernel_busy_ns"] < row["kernel_ns"]
            seen["several of a launch"] += row["launch_count"] < row["kernel_count"]
            seen["idle"] += row["busy_ns"] < row["span_ns"]
            for kind in KINDS:
                seen[kind] += row[f"{kind}_ns"] > 0
        of_step = thread_stats(*tables.values(), only_steps=[1])
        seen["thread without the step"] += len(of_step) < len(found)
        seen["loaders"] += sum(map(is_loader, tables["host_ops"]))
        seen["crossed"] += sum("cut_ns" in op for op in tables["host_ops"])
        seen["equal spans"] += len(tables["host_ops"]) - len(
            {
                (op["job"], op["rank"], op["pid"], op["tid"], op["start_ns"], op["end_ns"])
                for op in tables["host_ops"]
            }
        )
    assert min(seen.values()) > 4, seen
