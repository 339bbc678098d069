"""baseline and regressions: a newest run among those before."""

from queries.runs import changes, earlier, expect, fill, rows_of

RUNS = """
    name      a     b     c     newest
    slower    1000  1002  1004  1200
    faster    500   500   500   400
    noisy     100   110   120   150
    close     1000  1000  1000  1009
    far       1000  1000  1000  1010
    new       -     -     -     7
    gone      50    50    50    -
    rare      -     8     -     -
    same      40    40    40    40
"""


def test_three_runs_and_a_newest(compare):
    fill(compare, RUNS)
    # t of two degrees of freedom is 31.6: slower has 31.6 * 2 * sqrt(4/3) = 73 to either side, and
    # noisy 365. A time is never negative, so what is expected of noisy begins at 0, not at -255.
    expect(
        compare,
        "regressions",
        """
        name    change     test_ns  mean_ns  diff_ns  low_ns  high_ns  run_count  job
        slower  increased  1200     1002     198      929     1075     3          newest
        faster  decreased  400      500      -100     500     500      3          newest
        gone    deleted    0        50       -50      50      50       3          newest
        far     increased  1010     1000     10       1000    1000     3          newest
        new     added      7        0        7        0       0        3          newest
        noisy   unchanged  150      110      40       0       475      3          newest
        close   unchanged  1009     1000     9        1000    1000     3          newest
        rare    unchanged  0        3        -3       0       171      3          newest
        same    unchanged  40       40       0        40      40       3          newest
    """,
    )
    ratios = {row["name"]: row["diff_ratio"] for row in rows_of(compare, "regressions")}
    assert (ratios["faster"], ratios["far"], ratios["gone"]) == (-0.2, 0.01, -1.0)
    assert ratios["new"] is None


def test_what_to_expect(compare):
    fill(compare, RUNS)
    # No row for what only the newest has. rare: 0, 0, 8.
    expect(
        compare,
        "baseline",
        """
        name    run_count  mean_ns  median_ns  mad_ns  low_ns  high_ns  min_ns  max_ns
        slower  3          1002     1002       2       929     1075     1000    1004
        close   3          1000     1000       0       1000    1000     1000    1000
        far     3          1000     1000       0       1000    1000     1000    1000
        faster  3          500      500        0       500     500      500     500
        noisy   3          110      110        10      0       475      100     120
        gone    3          50       50         0       50      50       50      50
        same    3          40       40         0       40      40       40      40
        rare    3          3        0          0       0       171      0       8
    """,
    )
    assert earlier(compare) == ("a", "c", 3)


def test_positions_are_of_all_kinds(compare):
    """What changed is first, the largest difference of that; then all else, likewise."""
    fill(compare, RUNS)
    rows = compare.run("regressions")
    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    assert {row["kind"] for row in rows} == {"step", "kernel"}
    order = [(row["change"] == "unchanged", -abs(row["diff_ns"])) for row in rows]
    assert order == sorted(order)


def test_a_fifth_at_either_end_does_not_count(compare):
    fill(
        compare,
        """
        name  a    b    c    d     newest
        k     100  102  104  9000  5000
    """,
    )
    assert changes(compare) == {"k": "unchanged"}  # of four, all count
    fill(
        compare,
        """
        name  a    b    c    d    e     newest
        k     100  102  104  106  9000  5000
        once  -    7    -    -    -     -
    """,
    )
    # 102, 104 and 106 count; with the ends drawn in there are two of 102 and of 106, the squares
    # about the mean 16 in sum: 31.6 * sqrt(16 / 2) * sqrt(4/3) = 103.2
    expect(
        compare,
        "regressions",
        """
        name  change     mean_ns  low_ns  high_ns  run_count
        k     increased  104      1       207      5
        once  unchanged  0        0       0        5
    """,
    )
    expect(
        compare,
        "baseline",
        """
        name  mean_ns  median_ns  mad_ns  min_ns  max_ns
        k     104      104        2       100     9000
        once  0        0          0       0       7
    """,
    )


def test_one_run_before(compare):
    fill(
        compare,
        """
        name  a     newest
        more  1000  2000
        same  40    40
    """,
    )
    expect(
        compare,
        "regressions",
        """
        name  change     test_ns  mean_ns  diff_ns  low_ns  high_ns  run_count
        more  -          2000     1000     1000     -       -        1
        same  unchanged  40       40       0        -       -        1
    """,
    )
    expect(
        compare,
        "baseline",
        """
        name  run_count  mean_ns  low_ns  high_ns  first_job  last_job
        more  1          1000     -       -        a          a
        same  1          40       -       -        a          a
    """,
    )


def test_no_run_before(compare):
    fill(
        compare,
        """
        name  newest
        k     10
    """,
    )
    for query in ("baseline", "regressions"):
        assert compare.run(query) == compare.run(query, newest_job="newest") == []


def test_two_runs_before(compare):
    fill(
        compare,
        """
        name  a     b     newest
        k     1000  1001  1800
        l     1000  1000  1800
    """,
    )
    # 636.62 * sqrt(1/2) * sqrt(3/2) = 551.3
    expect(
        compare,
        "regressions",
        """
        name  change     mean_ns  low_ns  high_ns
        l     increased  1000     1000    1000
        k     increased  1001     449     1552
    """,
    )
