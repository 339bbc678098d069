"""The picture of a step: selectors, bars by click and key, and zoom, without plotly."""

import base64
import gzip
import json
import shlex

import pytest
from browser import visited
from click.testing import CliRunner
from report.page.pages import Page

import hta_sql
from hta_sql.cli import cli
from hta_sql.report import write_report

READY = "document.querySelector('.step').picture !== undefined"
ALL = "document.querySelector('.step').picture"


@pytest.fixture
def page(chromium, reports):
    with visited(chromium, reports["four"], until=READY) as visit:
        yield visit.page
        assert visit.said == [] and visit.asked == []


def test_the_first_screen_says_what_doctor_says(page, folder):
    found = CliRunner().invoke(cli, ["doctor", str(folder / "four"), "--format", "json"])
    top = json.loads(found.stdout)["jobs"][0]["findings"][0]
    heading = page.locator(".findings h3").first
    assert heading.inner_text().endswith(top["title"])
    box = heading.bounding_box()
    assert box["y"] + box["height"] < 900


def test_plotly_waits_until_a_chart_comes_into_view(page):
    """The page is painted first: plotly takes most of the time of its 5 MB of script."""
    assert page.locator(".chart").count() > 10
    assert page.evaluate("typeof Plotly") == "undefined"
    page.locator("#breakdown summary").first.click()
    page.locator("#breakdown .chart").first.scroll_into_view_if_needed()
    page.wait_for_function("typeof Plotly !== 'undefined'")
    page.wait_for_function("document.querySelectorAll('.chart[data-drawn]').length > 0")


def test_selects_choose_rank_and_step(chromium, folder, tmp_path):
    with hta_sql.open(folder / "four") as run:
        assert write_report(run, tmp_path / "report.html", step=1) == []
    with visited(chromium, tmp_path / "report.html", until=READY) as visit:
        rank, step, device = visit.page.locator(".step select").all()
        assert rank.locator("option").all_text_contents() == ["0", "1", "2", "3"]
        labels = step.locator("option").all_text_contents()
        # The step that was asked for comes first. Step 0 is also the slowest: it warms up.
        assert labels == ["step 1", "step 0 (typical, first, slowest)"]
        for chosen in ("1", "3"):
            rank.select_option(chosen)
            for label in labels:
                step.select_option(label=label)
                said = f"Step {label.split()[1]} of rank {chosen}, from its first event to the end"
                assert visit.page.locator(".step-facts").inner_text().startswith(said)
            # Step 1 is shown from its start on the host, when the GPU still runs step 0.
            step.select_option(label="step 1")
            before = ended_after_start(folder / "four", int(chosen))
            assert visit.page.evaluate(f"{ALL}.window.before") == before > 0
            said = f"{before / 1e6:#.3g} ms of it is the end of the step before"
            assert said in visit.page.locator(".step-facts").inner_text()
        # There is one device, so there is nothing to choose.
        assert not device.is_visible()


def ended_after_start(archive, rank: int) -> int:
    """From the start of step 1 on the host to the last end of GPU activities of step 0."""
    with hta_sql.open(archive) as run:
        [row] = run.sql(
            "SELECT (SELECT max(end_ns) FROM gpu_activities WHERE rank = $rank AND step = 0) "
            "- start_ns AS ns FROM steps WHERE rank = $rank AND step = 1",
            {"rank": rank},
        ).to_pylist()
    return row["ns"]


def test_keys_go_from_bar_to_bar(page):
    canvas = page.locator(".step canvas")
    canvas.focus()
    canvas.press("ArrowRight")
    canvas.press("ArrowDown")  # from the row of all streams to a stream
    places = []
    for _ in range(3):
        canvas.press("ArrowRight")
        places.append(page.evaluate(f"{ALL}.selected.at"))
        shown = page.locator(".step-details h3").inner_text()
        assert shown == page.evaluate(f"{ALL}.nameOf({ALL}.selected.row, {ALL}.selected.at)")
    assert places == [places[0], places[0] + 1, places[0] + 2]
    canvas.press("ArrowDown")
    at, row = page.evaluate(f"[{ALL}.selected.at, {ALL}.rows.indexOf({ALL}.selected.row)]")
    canvas.press("ArrowLeft")
    assert page.evaluate(f"{ALL}.selected.at") == max(0, at - 1)
    canvas.press("ArrowUp")
    assert page.evaluate(f"{ALL}.rows.indexOf({ALL}.selected.row)") == row - 1
    span = page.evaluate(f"{ALL}.window.span")
    canvas.press("+")
    assert page.evaluate(f"{ALL}.until - {ALL}.from") == pytest.approx(span / 2)
    canvas.press("0")
    assert page.evaluate(f"[{ALL}.from, {ALL}.until]") == [0, span]


def test_a_click_shows_the_call_stack_and_its_command(page, folder):
    """Of the longest kernel on stream 7, against the query call_stack."""
    x, y, event, rank = page.evaluate(
        f"""() => {{
        const p = {ALL};
        const row = p.rows.find((one) => one.title === 'stream 7');
        const at = row.bars.size.indexOf(Math.max(...row.bars.size));
        const per = p.plot.clientWidth / (p.until - p.from);
        const middle = (row.bars.start[at] + row.bars.size[at] / 2) * per;
        return [middle, row.y + row.height / 2, row.bars.event[at], p.window.rank];
    }}"""
    )
    page.locator(".step canvas").click(position={"x": x, "y": y})
    command = page.locator(".step-details pre").inner_text()
    assert f"--of-event {event} --of-rank {rank}" in command
    done = CliRunner().invoke(cli, [*shlex.split(command)[1:], "--format", "json"])
    rows = json.loads(done.stdout)
    [itself] = [row for row in rows if row["relation"] == "self"]
    assert itself["event_id"] == event
    shown = page.locator(".step-details li").all_text_contents()
    launch = shown[-1]
    above = [row["name"] for row in rows if row["relation"] == "ancestor"]
    assert launch in above and len(shown) > 2
    # On the thread of the launch; the query goes on to other threads.
    assert [name for name in above if name in shown] == shown


def test_a_bar_of_all_streams_shows_its_activity_and_zoom_keeps_it_in_view(page):
    """The longest computation, which runs on one stream at that time."""
    x, y, name = page.evaluate(
        f"""() => {{
        const p = {ALL};
        const [merged, row] = ['all ', 'stream 7'].map(
            (title) => p.rows.find((one) => one.title.startsWith(title)));
        const at = row.bars.size.indexOf(Math.max(...row.bars.size));
        const per = p.plot.clientWidth / (p.until - p.from);
        const middle = (row.bars.start[at] + row.bars.size[at] / 2) * per;
        return [middle, merged.y + merged.height / 2, p.nameOf(row, at)];
    }}"""
    )
    canvas = page.locator(".step canvas")
    canvas.click(position={"x": x, "y": y})
    assert page.locator(".step-details h3").inner_text() == name
    assert page.locator(".step-details li").count() > 2
    page.mouse.move(0, 0)
    canvas.hover(position={"x": x, "y": y})
    assert page.locator(".step-tip").is_visible()
    for _ in range(12):
        canvas.press("+")
    assert not page.locator(".step-tip").is_visible()
    low, high, (start, end), ticks, shown = page.evaluate(
        f"[{ALL}.from, {ALL}.until, {ALL}.extent({ALL}.selected), {ALL}.ticks(), "
        "document.querySelector('.step output').textContent]"
    )
    assert low + high == pytest.approx(start + end)
    labels = [text for _, text in ticks]
    assert len(set(labels)) == len(labels) > 2
    for at, text in ticks:
        assert float(text.removesuffix(" ms")) == pytest.approx(at / 1e6, abs=1e-12)
    assert shown == f"shows {(high - low) / 1e3:#.3g} µs"


def test_dragging_zooms_in(page):
    canvas = page.locator(".step canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    y = box["y"] + 60
    page.mouse.move(box["x"] + box["width"] / 4, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, y, steps=4)
    page.mouse.up()
    low, high, span = page.evaluate(f"[{ALL}.from, {ALL}.until, {ALL}.window.span]")
    assert low / span == pytest.approx(0.25, abs=0.01)
    assert high / span == pytest.approx(0.5, abs=0.01)


def test_another_device_is_shown_at_the_same_times(page):
    """There is one device; its select stands for a choice. Another rank is shown whole."""
    page.locator(".step canvas").press("+")
    shown = f"[{ALL}.from, {ALL}.until]"
    half = page.evaluate(shown)
    page.evaluate(f"{ALL}.selects.Device.dispatchEvent(new Event('change'))")
    assert page.evaluate(shown) == half
    page.locator(".step select").first.select_option("2")
    assert page.evaluate(shown) == [0, page.evaluate(f"{ALL}.window.span")]


def test_a_page_may_have_two(page):
    """Each with its own data and choice: a second one beside the first."""
    page.evaluate(
        f"""() => {{
        const place = document.createElement('div');
        place.className = 'step second';
        document.querySelector('.step').after(place);
        place.picture = new StepPicture(place, {ALL}.data);
    }}"""
    )
    page.locator(".second select").first.select_option("2")
    assert page.evaluate("document.querySelector('.second').picture.window.rank") == 2
    assert page.locator(".step-facts").nth(1).inner_text().split()[:5][-1] == "2,"
    before = page.locator(".step-facts").first.inner_text()
    assert " of rank 2," not in before


def test_pictures_of_two_jobs_move_together(chromium, reports):
    """The third picture of the page, of a step of the test alone, stays as it is."""
    with visited(chromium, reports["two"], until=READY) as visit:
        shown = "[...document.querySelectorAll('.step')].map(({picture: p}) => [p.from, p.until])"
        _, whole, alone = visit.page.evaluate(shown)
        now = visit.page.locator(".step canvas").nth(1)
        now.press("+")
        now.press("ArrowRight")
        half = [whole[1] / 4, 3 * whole[1] / 4]
        assert visit.page.evaluate(shown) == [half, half, alone]
        visit.page.locator(".step canvas").first.press("0")
        assert visit.page.evaluate(shown) == [whole, whole, alone]
        paths = (
            "[...document.querySelectorAll('.step')].map((one) => one.picture.window.path.length)"
        )
        assert min(visit.page.evaluate(paths)) > 1
        # If one has a long name of a thread, both leave room for it.
        widths = """() => {
            const all = [...document.querySelectorAll('.step')].map((one) => one.picture);
            const [base, test, alone] = all;
            test.rows[0].group = 'thread -1029147072';
            test.layOut();
            return [base, test, alone].map((picture) => picture.plot.clientWidth);
        }"""
        base, test, alone = visit.page.evaluate(widths)
        assert base == test < alone
        assert visit.said == []


@pytest.mark.parametrize("width", [1280, 1440, 1920])
@pytest.mark.parametrize("name", ["four", "two"])
def test_the_last_column_of_each_table_is_in_view(chromium, reports, name, width):
    with visited(chromium, reports[name], width, until=READY) as visit:
        page = visit.page
        for section in page.locator("section > details").all():
            section.evaluate("(section) => (section.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert (
            page.evaluate(
                """() => [...document.querySelectorAll('.scroll')].filter(
            (box) => box.scrollWidth > box.clientWidth
        ).map((box) => [box.getAttribute('aria-label'), box.scrollWidth, box.clientWidth])"""
            )
            == []
        )


def test_a_path_is_computed_without_a_change_of_the_archive(folder, reports):
    """`two` has no critical path: the report has one, and the archive still has none."""
    text = reports["two"].read_text(encoding="utf-8")
    assert "The report computed it in" in text and "the archive does not keep it" in text
    assert not list((folder / "two").glob("critical_paths*"))
    assert not list((folder / "two").glob("path_edges*"))
    [picture] = [
        figure["picture"]
        for figure in Page(reports["two"]).figures
        if "picture" in figure and figure["section"] == "One step"
    ]
    assert any(window["path"] for window in picture["windows"])


def test_plotly_is_packed(reports):
    """It is most of a report: 4.8 MB as it is."""
    text = reports["four"].read_text(encoding="utf-8")
    packed = text.partition('id="plotly">')[2].partition("<")[0]
    assert (
        len(packed) < 2_100_000 and b"plotly.js v" in gzip.decompress(base64.b64decode(packed))[:99]
    )
    assert len(text) - len(packed) < 1_500_000
