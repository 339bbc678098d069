"""Which runs count, in which order, and names of kernels."""

from queries.runs import changes, earlier, expect, fill


def test_other_gpus_and_numbers_of_ranks_are_left_out(compare):
    h100, a100 = {"device_name": "H100", "world_size": 8}, {"device_name": "A100", "world_size": 8}
    runs = """
        name  a  b  c  d  newest
        k     1  1  5  1  1
    """
    fill(compare, runs, a=h100, b=h100, c=a100, d=h100, newest=h100)
    assert earlier(compare) == ("a", "d", 3)
    assert changes(compare) == {"k": "unchanged"}
    fill(compare, runs, a=h100, b=h100, c=h100 | {"world_size": 16}, d=h100, newest=h100)
    assert earlier(compare) == ("a", "d", 3)
    # What is not known is not known to be the same.
    fill(compare, runs, a=h100, b={}, c=a100, d=h100 | {"world_size": None}, newest=h100)
    assert earlier(compare) == ("a", "a", 1)
    fill(compare, runs, a=h100, b={}, c=a100, d={}, newest={})
    assert earlier(compare) == ("b", "d", 2)
    assert earlier(compare, newest_job="d") == ("b", "b", 1)
    fill(compare, runs, a=h100, b=h100, c=a100, d=h100, newest=a100)
    assert earlier(compare) == ("c", "c", 1)


def test_gpus_of_all_ranks(compare):
    gpus = {
        "a": ["H100", "A100"],
        "b": ["A100", "H100"],
        "c": ["H100", "H100"],
        "newest": ["A100", "H100"],
    }
    compare.fill(
        gpu_activities=[{"job": job, "name": "k", "start_ns": 0, "dur_ns": 4} for job in gpus],
        traces=[
            {
                "job": job,
                "rank": rank,
                "device_name": gpus[job][rank],
                "start_ns": 100 * at - 99 * rank,
            }
            for at, job in enumerate(gpus)
            for rank in (0, 1)
        ],
    )
    assert earlier(compare) == ("a", "b", 2)


def test_job_contains(compare):
    fill(
        compare,
        """
        name  train-1  eval-1  train-2  eval-2  train-3  eval-3
        k     10       90      10       90      20       91
    """,
    )
    expect(
        compare,
        "regressions",
        """
        name  change     test_ns  mean_ns  run_count  job
        k     increased  20       10       2          train-3
    """,
        job_contains="train",
    )
    expect(
        compare,
        "regressions",
        """
        name  change     test_ns  mean_ns  run_count  job
        k     increased  91       90       2          eval-3
    """,
        job_contains="eval-",
    )
    assert earlier(compare, job_contains="train") == ("train-1", "train-2", 2)
    assert earlier(compare, job_contains="1", newest_job="eval-1") == ("train-1", "train-1", 1)
    assert earlier(compare, newest_job="eval-2") == ("train-1", "train-2", 3)
    for missing in ({"job_contains": "Train"}, {"job_contains": "train", "newest_job": "eval-3"}):
        assert compare.run("baseline", **missing) == compare.run("regressions", **missing) == []


def test_run_limit_takes_the_last_ones(compare):
    fill(compare, "name " + " ".join(f"r{at:02}" for at in range(13)) + "\nk " + "1 " * 13)
    assert earlier(compare) == ("r02", "r11", 10)
    assert earlier(compare, run_limit=100) == ("r00", "r11", 12)
    assert earlier(compare, run_limit=2) == ("r10", "r11", 2)
    assert earlier(compare, run_limit=1, newest_job="r05") == ("r04", "r04", 1)
    assert earlier(compare, newest_job="r05") == ("r00", "r04", 5)
    for none in (0, -1):
        assert compare.run("baseline", run_limit=none) == []
        assert compare.run("regressions", run_limit=none) == []


def test_runs_after_the_newest_do_not_count(compare):
    fill(
        compare,
        """
        name  a    b    c    d    e    f
        k     100  100  100  120  900  900
        new   -    -    -    -    5    5
    """,
    )
    # Nor does a kernel that only they have.
    expect(
        compare,
        "regressions",
        """
        name  change     test_ns  mean_ns  run_count  job
        k     increased  120      100      3          d
    """,
        newest_job="d",
    )
    assert earlier(compare, newest_job="d") == ("a", "c", 3)


def test_order_is_that_of_the_beginnings(compare):
    """Not of the names, but for those that began at once."""
    fill(
        compare,
        """
        name  d  c  b  a
        k     1  2  3  4
    """,
    )
    assert earlier(compare) == ("d", "b", 3)
    assert earlier(compare, newest_job="b") == ("d", "c", 2)
    assert compare.run("regressions")[0]["job"] == "a"
    fill(
        compare,
        """
        name  a  b  c  d
        k     1  2  3  4
    """,
        c={"start_ns": 5},
        d={"start_ns": 5},
        b={"start_ns": 5},
    )
    assert earlier(compare) == ("a", "c", 3)
    assert compare.run("regressions")[0]["job"] == "d"


def test_runs_of_unknown_beginnings(compare):
    """They go by their names, and first."""
    fill(
        compare,
        """
        name  z  a  b  m
        k     1  2  3  4
    """,
        a={"start_ns": None},
        b={"start_ns": None},
    )
    assert earlier(compare) == ("a", "z", 3)
    assert earlier(compare, run_limit=2) == ("b", "z", 2)
    assert earlier(compare, newest_job="b") == ("a", "a", 1)


def test_short_names(compare):
    runs = [("a", 10), ("b", 10), ("c", 12)]
    compare.fill(
        gpu_activities=[
            {
                "job": job,
                "name": f"gemm<{kind}>(int)",
                "short_name": "gemm",
                "start_ns": at,
                "dur_ns": dur_ns,
            }
            for job, dur_ns in runs
            for at, kind in enumerate(["float", "half"])
        ],
        traces=[{"job": job, "start_ns": at} for at, (job, _) in enumerate(runs)],
    )
    expect(
        compare,
        "regressions",
        """
        name  change     test_ns  mean_ns
        gemm  increased  24       20
    """,
    )
    expect(
        compare,
        "regressions",
        """
        name              change     test_ns  mean_ns
        gemm<float>(int)  increased  12       10
        gemm<half>(int)   increased  12       10
    """,
        short_names=False,
    )
    expect(
        compare,
        "baseline",
        """
        name              mean_ns
        gemm<float>(int)  10
        gemm<half>(int)   10
    """,
        short_names=False,
    )


def test_a_kernel_without_a_name(compare):
    """It is one as any other."""
    compare.fill(
        gpu_activities=[{"job": job, "name": None, "start_ns": 0, "dur_ns": 10} for job in "abc"],
        traces=[{"job": job, "start_ns": at} for at, job in enumerate("abc")],
    )
    for short_names in (False, True):
        expect(
            compare,
            "regressions",
            """
            name  change     test_ns  mean_ns
            -     unchanged  10       10
        """,
            short_names=short_names,
        )
        expect(
            compare,
            "baseline",
            """
            name  mean_ns  min_ns
            -     10       10
        """,
            short_names=short_names,
        )
