"""The fleet page in a browser, beside figures worked out by hand."""

import random
import shlex
from datetime import date

import pytest
from browser import visited
from fleet_page.conftest import ODD
from fleet_page.stored import MS, summary, write_stored

import hta_sql
from hta_sql.fleet_page import write_fleet_page
from hta_sql.show.units import humane

pytestmark = pytest.mark.browser

WEEK = date(2026, 3, 2)


@pytest.fixture(scope="module")
def visit(chromium, page):
    with visited(chromium, page) as visit:
        yield visit
        assert visit.said == [] and visit.asked == []


@pytest.fixture
def shown(visit):
    """The page as it opens."""
    visit.page.reload()
    return visit.page


def names(shown) -> list[str]:
    return shown.locator("#table .name button").all_inner_texts()


def column(shown, head: str) -> list[str]:
    at = shown.evaluate("(head) => heads.findIndex((one) => one.head === head)", head)
    return shown.locator(f"#table tbody td:nth-child({at + 1})").all_inner_texts()


def sort_by(shown, head: str) -> None:
    shown.locator("#table th button").get_by_text(head, exact=True).click()


def test_where_to_begin(shown):
    lead = shown.inner_text(".lead")
    assert lead == (
        "Begin with job llama-1: it has the most GPU time without computation, 60.0 ms of the "
        "120 ms in 3 jobs."
    )
    assert shown.locator(".lead ~ p").all_inner_texts()[:2] == [
        "The largest part of it is waiting for the host to launch: 50.0 ms. Fix this first, "
        "which could save 30.0 % of a step: The GPU waits.",
        "In all jobs together, the largest part of this time is waiting for the host to "
        "launch: 50.0 ms.",
    ]
    told = shown.locator(".warning").all_inner_texts()
    assert told[0].startswith("1 of 4 jobs has no stored results")
    assert told[1].startswith("The results of 1 job are of an earlier hta_sql, and lack the step ")
    commands = [shlex.split(text) for text in shown.locator(".warning + pre").all_inner_texts()]
    assert [words[3:] for words in commands] == [[], ["--force"]]
    facts = dict(
        zip(
            shown.locator("dt").all_inner_texts(),
            [text.split("\n") for text in shown.locator("dd").all_inner_texts()],
            strict=True,
        )
    )
    assert facts == {
        "jobs": ["4", "1 without stored results"],
        "GPU time": ["250 ms", "traced, on all GPUs of 3 jobs together"],
        "utilisation": ["≤ 64.0 %", "of the GPU time has activity"],
        "without computation": ["120 ms", "48.0 % of the GPU time"],
        "waiting for late ranks": [
            "5.00 ms",
            "2.0 % of the GPU time of 3 jobs with several ranks, where it is known",
        ],
        "changes": ["-", "too few runs to compare step times"],
    }


def test_the_lead_opens_the_row_of_its_job(shown):
    shown.fill("#text", "llama-2")
    shown.get_by_label("team", exact=True).select_option(label="blue")
    sort_by(shown, "job")
    shown.click("#begin")
    assert names(shown) == ["llama-1", ODD, "llama-2", "new"]
    assert shown.locator("#table tr:has(+ .more) .name button").all_inner_texts() == ["llama-1"]
    shown.click("#begin")
    assert shown.locator("#table .more").count() == 1


def test_a_damaged_trace_is_marked(shown):
    assert column(shown, "job") == ["llama-1", ODD, "llama-2 truncated", "new"]
    shown.locator("#table .name button").get_by_text("llama-2").click()
    told = "The figures are of a part of the job: rank 0 is truncated: <b>the file ends"
    assert told in shown.inner_text("#table .more")
    shown.fill("#text", "truncated")
    assert names(shown) == ["llama-2"]


def test_findings_across_jobs(shown):
    """Of host_bound, the gains are 30 % and 10 %."""
    cells = shown.locator("#findings tr").all()
    assert [row.locator("th, td").all_inner_texts() for row in cells] == [
        ["finding", "jobs", "median gain", "largest gain", "job", "title"],
        ["host_bound", "2", "20.0 %", "30.0 %", "llama-1", "The GPU waits"],
        ["gpu_sync", "1", "2.0 %", "2.0 %", "llama-1", "It synchronises"],
    ]


@pytest.mark.parametrize(
    ("part", "told"),
    [(0, "0.0 %"), (0.00015, "<0.1 %"), (0.0005, "0.1 %"), (0.9996, ">99.9 %"), (1, "100.0 %")],
)
def test_a_share_that_is_not_0_or_1_does_not_look_like_it(shown, part, told):
    assert shown.evaluate("share", part) == told


def test_every_column_sorts_with_the_unknown_last(shown):
    """Numbers come from the largest on and texts from A; another click turns that around."""
    assert names(shown) == ["llama-1", ODD, "llama-2", "new"]  # by the time without computation
    for head, told in (
        ("GPU time", ["100 ms", "100 ms", "50.0 ms", "-"]),
        ("without compute", ["60.0 ms", "50.0 ms", "10.0 ms", "-"]),
        ("waiting for late ranks", ["5.00 ms", "0 ns", "0 ns", "-"]),
        ("utilisation", ["≤ 100.0 %", "40.0 %", "40.0 %", "-"]),
        ("gain", ["30.0 %", "10.0 %", "-", "-"]),
        ("step", ["22.0 ms", "20.0 ms", "-", "-"]),
        ("trend", ["+10.0 %", "-", "-", "-"]),
        ("ranks", ["2"] * 4),
        ("job", [ODD, "llama-1", "llama-2 truncated", "new"]),
        ("started", ["2026-03-16 00:00"] + ["2026-03-02 00:00"] * 3),
        ("first finding", ["</script><b>", "The GPU waits", "-", "-"]),
    ):
        sort_by(shown, head)
        assert column(shown, head) == told, head
        sort_by(shown, head)
        known = [text for text in told if text != "-"]
        assert column(shown, head) == known[::-1] + ["-"] * told.count("-"), head
        sorted_by = shown.locator("#table th[aria-sort]")
        assert sorted_by.inner_text().split()[0] == head.split()[0]


def test_filters_and_what_they_add_up(shown):
    assert (
        shown.inner_text("#sums")
        == "3 jobs: 250 ms of GPU time, 120 ms (48.0 %) without computation; "
        "1 job without stored results"
    )
    shown.fill("#text", "LLAMA h100")
    assert names(shown) == ["llama-1", "llama-2"]
    assert (
        shown.inner_text("#sums")
        == "2 jobs: 200 ms of GPU time, 70.0 ms (35.0 %) without computation"
    )
    shown.fill("#text", "")
    for name, value, jobs in (
        ("team", "red", ["llama-1", "new"]),
        ("team", "(none)", [ODD]),
        ("finding", "host_bound", ["llama-1", ODD]),
        ("finding", "gpu_sync", ["llama-1"]),
        ("GPU", "MI300", [ODD]),
    ):
        shown.get_by_label(name, exact=True).select_option(label=value)
        assert names(shown) == jobs
        shown.get_by_label(name, exact=True).select_option("all")
    shown.fill("#text", "new")
    assert shown.inner_text("#sums") == "1 job without stored results"
    shown.fill("#text", "no such")
    assert names(shown) == [] and shown.inner_text("#place") == "No job matches."
    assert not shown.is_visible("#weeks")


def weeks(shown) -> list[list[str]]:
    rows = shown.locator("#figures tr")
    return [row.locator("th, td").all_text_contents() for row in rows.all()]


def test_the_picture_adds_up_weeks(shown):
    assert weeks(shown)[0][1:4] == [
        "computation",
        "waiting for late ranks",
        "exposed communication",
    ]
    assert weeks(shown)[1:] == [
        # computation; late ranks, communication, copies; waits for the host, queued, below 30 us
        ["2026-03-02", "130 ms", "5.00 ms", "5.00 ms", "0 ns", "50.0 ms", "0 ns", "10.0 ms"],
        ["2026-03-16", "0 ns", "0 ns", "0 ns", "20.0 ms", "0 ns", "30.0 ms", "0 ns"],
    ]
    # 200 ms of three weeks; the tallest bar is as high as the axis.
    bars = shown.evaluate(
        "[...document.querySelectorAll('#picture rect')].map((r) => "
        "[r.querySelector('title').textContent, r.height.baseVal.value, r.x.baseVal.value])"
    )
    heights = {title.split(" of ")[0]: height for title, height, _ in bars}
    assert heights["2026-03-02, computation: 130 ms"] == pytest.approx(0.65 * 148, rel=1e-3)
    assert sum(height for _, height, _ in bars) == pytest.approx(1.25 * 148, rel=1e-3)
    first, *_, last = sorted({x for _, _, x in bars})
    assert last - first == pytest.approx(160)  # the week between has its place
    shown.select_option("#by", label="team")
    assert weeks(shown) == [
        ["week of", "red", "(none)", "blue"],
        ["2026-03-02", "60.0 ms", "0 ns", "10.0 ms"],
        ["2026-03-16", "0 ns", "50.0 ms", "0 ns"],
    ]


def test_details_name_the_commands(shown, few, page):
    button = shown.locator("#table .name button").get_by_text(ODD)
    button.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    told = shown.inner_text("#table .more")
    assert (
        "GPU time without computation: waiting for 30 µs or more after a launch 30.0 ms, "
        "exposed copies 20.0 ms"
    ) in told
    commands = [shlex.split(text) for text in shown.locator("#table .more pre").all_inner_texts()]
    assert commands == [
        ["hta-sql", "doctor", str(few), "--only-jobs", ODD],
        ["hta-sql", "report", "--fleet", str(few), "-o", str(page.parent), "--job", ODD],
    ]
    button.press("Enter")
    assert shown.locator("#table .more").count() == 0
    assert shown.evaluate("[typeof hacked, document.querySelectorAll('img, b').length]") == [
        "undefined",
        0,
    ]


def test_times_read_as_on_the_command_line(shown):
    rng = random.Random(1)
    times = [0, 1, 999, 1000, 99_949_999, 99_950_000, *(rng.randrange(10**k) for k in range(1, 17))]
    assert shown.evaluate("(times) => times.map(time)", times) == [
        humane("a_ns", time) for time in times
    ]


@pytest.mark.parametrize(
    ("width", "theme"), [(1280, "light"), (1440, "dark"), (1920, "light"), (390, "dark")]
)
def test_nothing_is_cut(chromium, page, tmp_path, width, theme):
    with visited(chromium, page, width, theme) as visit:
        visit.page.locator("#table .name button").nth(1).click()
        visit.page.screenshot(path=tmp_path / "page.png", full_page=True)
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        wide, room = visit.page.evaluate("[place('list').scrollWidth, place('list').clientWidth]")
        assert wide <= room or width < 1280  # narrow screens scroll the table
        cut = visit.page.evaluate(
            "[...document.querySelectorAll('#table th, #table td, #picture text, #legend li')]"
            ".filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth)"
            ".map((part) => part.textContent)"
        )
        assert cut == []


@pytest.mark.big
def test_of_ten_thousand_jobs_the_page_draws_a_hundred(chromium, tmp_path):
    """So it sorts and filters at once: 41 to 148 ms were measured for a sort."""
    rng = random.Random(1)
    tags = {f"job-{n}": {"team": f"team-{n % 13}"} for n in range(10_000)}
    spans = {job: [rng.randrange(1, 10**5) for _ in range(2)] for job in tags}
    rows = [summary(job, a + b, a, host_wait=b, p50=b) for job, (a, b) in spans.items()]
    weeks = {job: n % 40 for n, job in enumerate(tags)}
    archive = write_stored(tmp_path / "jobs", tags, rows, weeks=weeks)
    with hta_sql.open(archive) as run:
        write_fleet_page(run, tmp_path)
    with visited(chromium, tmp_path / "index.html") as visit:
        shown = visit.page
        assert shown.locator("#table tbody tr").count() == 100
        for act in (
            *(f"document.querySelectorAll('#table th button')[{at}].click()" for at in range(12)),
            "place('text').value = 'team-1'; choose()",
            "place('text').value = ''; filters[0].list.value = '=team-3'; choose()",
            "filters[0].list.value = ''; choose()",
            "place('on').click()",
        ):
            shown.evaluate(act)
            assert shown.locator("#table tbody tr").count() <= 100, act
        assert shown.inner_text("#place").endswith(" of 10,000")
        sort_by(shown, "without compute")
        waits = sorted((b for _, b in spans.values()), reverse=True)
        assert column(shown, "without compute") == [humane("a_ns", b * MS) for b in waits[:100]]
        shown.click("#on")
        assert column(shown, "without compute") == [humane("a_ns", b * MS) for b in waits[100:200]]
        assert visit.said == []
