"""The timeline of GPU activities, with the colours of categories."""

from plot.figures import BLUE, ORANGE, rounded, table

from hta_sql import plot

GREEN, GREY = "#009e73", "#a3a8b3"


def test_kernel_timeline():
    figure = plot.kernel_timeline(
        table("""
        job rank device stream from_start_ns dur_ns category      name    step
        a   0    0      7      1000          2000   gemm          a<b>&c  1
        a   0    0      20     2000          500    communication -       -
        a   0    0      7      3500          1500   gemm          relu    2
    """)
    )
    gemm, communication = figure.data
    assert (gemm.name, gemm.marker.color) == ("gemm", BLUE)
    assert (communication.name, communication.marker.color) == ("communication", ORANGE)
    assert (rounded(gemm.base), rounded(gemm.x)) == ([0, 2.5], [2, 1.5])
    assert (rounded(communication.base), rounded(communication.x)) == ([1], [0.5])
    assert (list(gemm.y), list(communication.y)) == ([0, 0], [1])
    assert list(figure.layout.yaxis.ticktext) == ["rank 0 stream 7", "rank 0 stream 20"]
    assert list(gemm.customdata) == [
        "a&lt;b&gt;&amp;c<br>gemm, 2.00 µs, step 1",
        "relu<br>gemm, 1.50 µs, step 2",
    ]
    assert list(communication.customdata) == ["-<br>communication, 500 ns"]


def test_the_categories_with_most_time_have_colours():
    """Communication and memory always have theirs; what comes after five others is grey."""
    rows = [
        ("memory", 1),
        ("gemm", 50),
        ("softmax", 10),
        ("attention", 40),
        ("reduction", 9),
        ("activation", 10),
        ("loss", 20),
        ("communication", 2),
        ("rope", 9),
        ("gemm", 1),
    ]
    lines = [
        f"a 0 0 7 {100 * place} {dur_ns} {category} k -"
        for place, (category, dur_ns) in enumerate(rows)
    ]
    figure = plot.kernel_timeline(
        table("job rank device stream from_start_ns dur_ns category name step\n" + "\n".join(lines))
    )
    assert [bars.name for bars in figure.data] == [
        "gemm",
        "attention",
        "loss",
        "activation",
        "softmax",
        "communication",
        "memory",
        "other categories",
    ]
    colours = [bars.marker.color for bars in figure.data]
    assert len(set(colours)) == len(colours)
    assert (colours[0], colours[5:]) == (BLUE, [ORANGE, GREEN, GREY])
    assert [len(bars.x) for bars in figure.data] == [2, 1, 1, 1, 1, 1, 1, 2]


def test_a_single_category_is_named():
    """Plotly alone would not say what the one colour means."""
    one = table(
        "job rank device stream from_start_ns dur_ns category name step\na 0 0 7 0 9 memory - -"
    )
    assert plot.kernel_timeline(one).layout.showlegend is True
