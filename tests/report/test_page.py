"""The page in a real browser: it is drawn, can be read at any width and theme, and is inert."""

import re

import pytest
from browser import contrast, visited
from report.conftest import ODD, ODD_HOST, ODD_KERNEL

LOOKS = [
    ("four", 1280, "light"),
    ("four", 390, "dark"),
    ("two", 390, "light"),
    ("two", 1280, "dark"),
    ("cpu_only", 390, "light"),
    ("eventless", 1280, "light"),
    ("quarantined", 390, "dark"),
    (ODD, 390, "light"),
]
CHARTS = {"four": 18, "two": 19, "cpu_only": 1, "eventless": 0}


def open_all(page) -> int:
    """Open all sections, and wait until all charts are drawn. Returns how many there are."""
    page.click("#all")
    page.wait_for_function(
        "document.querySelectorAll('.chart:not([data-drawn])').length === 0", timeout=60_000
    )
    return page.locator(".chart").count()


@pytest.mark.parametrize(("name", "width", "theme"), LOOKS)
def test_it_can_be_read(chromium, reports, tmp_path, name, width, theme):
    with visited(chromium, reports[name], width, theme) as visit:
        page = visit.page
        charts = open_all(page)
        page.screenshot(path=tmp_path / f"{width}-{theme}.png", full_page=True)
        assert charts == CHARTS.get(name, charts)
        captions = page.locator("figure:has(.chart) > figcaption").all_text_contents()
        assert {
            caption for caption, marks in zip(captions, visit.marks(), strict=True) if not marks
        } == set()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # Boxes of chart, table, text: none reaches beyond the window, but by scrolling inside.
        assert (
            page.evaluate(
                """(width) => [...document.querySelectorAll(
            'main > *, figure, .chart, .scroll, p, pre, dl, h1, h2, figcaption'
        )].filter((part) => part.getBoundingClientRect().right > width + 1).length""",
                width,
            )
            == 0
        )
        assert [(captions[chart], *pair) for chart, *pair in visit.overlaps()] == []
        assert [
            (captions[chart], text["text"])
            for chart, texts in enumerate(visit.texts())
            for text in texts
            if text["size"] < 8.9 or not text["inside"]
        ] == []
        small = page.evaluate("""() => [...document.querySelectorAll('body *')].filter((part) => (
            part.innerText && parseFloat(getComputedStyle(part).fontSize) < 11
        )).length""")
        assert small == 0
        assert visit.said == [] and visit.asked == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_have_contrast(chromium, reports, theme):
    with visited(chromium, reports["eventless"], theme=theme) as visit:
        for ink, grounds in (
            ("--ink", ("--ground", "--raised")),
            ("--faint", ("--ground", "--raised")),
            ("--link", ("--ground", "--raised")),
            ("--warning-ink", ("--warning",)),
        ):
            for ground in grounds:
                assert contrast(visit.colour(ink), visit.colour(ground)) >= 4.5, (ink, ground)
    assert contrast("#000000", "#ffffff") == 21


@pytest.fixture(scope="module")
def four(chromium, reports):
    """The report on four ranks, open."""
    with visited(chromium, reports["four"]) as visit:
        open_all(visit.page)
        yield visit.page
        assert visit.said == []


def cells(table, head: str) -> list[tuple[str, str]]:
    """The texts and exact values of a column, from top to bottom."""
    heads = [th.get_attribute("title") for th in table.locator("th").all()]
    return [
        (cell.text_content(), cell.get_attribute("title"))
        for cell in table.locator(f"tbody td:nth-child({heads.index(head) + 1})").all()
    ]


def table_of(page, caption: str):
    return page.locator("figure", has=page.locator("figcaption", has_text=caption)).locator("table")


def test_tables_sort_by_click_and_by_key(four):
    table = table_of(four, "Kernels, copies and memsets")
    before = cells(table, "mean_ns")
    values = sorted((int(exact) for _, exact in before), reverse=True)
    assert [int(exact) for _, exact in before] != values
    head = table.locator("th[title=mean_ns]")
    head.click()  # large numbers first, by value: 1.2 ms is more than 900 µs
    assert [int(exact) for _, exact in cells(table, "mean_ns")] == values
    assert head.get_attribute("aria-sort") == "descending"
    head.click()
    assert [int(exact) for _, exact in cells(table, "mean_ns")] == values[::-1]
    head.press("Enter")
    assert [int(exact) for _, exact in cells(table, "mean_ns")] == values
    head.press(" ")
    assert head.get_attribute("aria-sort") == "ascending"
    assert [int(exact) for _, exact in cells(table, "mean_ns")] == values[::-1]
    table.locator("th[title=kind]").press("Enter")
    assert head.get_attribute("aria-sort") is None
    kinds = [text for text, _ in cells(table, "kind")]
    assert kinds == sorted(kinds) and len(set(kinds)) == 3
    # A row moves as a whole.
    assert sorted(cells(table, "mean_ns")) == sorted(before)


def test_a_filter_leaves_the_rows_with_a_text(four):
    figure = four.locator("figure", has=four.locator("figcaption", has_text="Operators: host time"))
    names = [text for text, _ in cells(figure.locator("table"), "name")]
    wanted = [name for name in names if "GELU" in name.upper()]
    assert 0 < len(wanted) < len(names)
    figure.get_by_role("searchbox").fill("gelu")
    shown = figure.locator("tbody tr:visible td:first-child").all_text_contents()
    assert shown == wanted
    assert figure.locator("output").inner_text() == f"{len(wanted)} of {len(names)} rows"
    figure.get_by_role("searchbox").fill("")
    assert figure.locator("tbody tr:visible").count() == len(names)


def test_a_cut_name_is_shown_in_full(four):
    cell = four.locator("td.cut").first
    cut = cell.get_by_role("button")
    short, full = cut.text_content(), cell.get_attribute("title")
    assert len(short) < len(full) and "…" in short and "…" not in full
    for act in (lambda: cut.press("Enter"), lambda: cut.press(" "), cut.click):
        act()
        assert (cell.text_content(), cut.get_attribute("aria-expanded")) == (full, "true")
        cut.press("Enter")
        assert (cell.text_content(), cut.get_attribute("aria-expanded")) == (short, "false")


def test_what_is_unknown_comes_last(four):
    table = table_of(four, "GPU time lost waiting")
    head = table.locator("th[title=kernel_name]")
    there = [text for text, _ in cells(table, "kernel_name")]
    # As people count: 64x256x64 comes before 128x256x64.
    known = sorted(
        {text for text in there if text != "-"},
        key=lambda text: [
            (not part.isdigit(), int(part) if part.isdigit() else part)
            for part in re.split(r"(\d+)", text.lower())
        ],
    )
    unknown = there.count("-")
    assert unknown and len(known) > 1
    for order in (known, known[::-1]):
        head.click()
        found = [text for text, _ in cells(table, "kernel_name")]
        assert found[-unknown:] == ["-"] * unknown
        assert list(dict.fromkeys(found[:-unknown])) == order


def test_links_lead_somewhere(four):
    goals = four.evaluate("[...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))")
    assert len(goals) > 30 and all(goal.startswith("#") for goal in goals)
    assert (
        four.evaluate(
            """(goals) => goals.filter(
        (goal) => document.querySelectorAll(`[id="${goal.slice(1)}"]`).length !== 1
    )""",
            goals,
        )
        == []
    )
    titles = four.locator("h2").all_text_contents()
    links = [link.get_attribute("title") for link in four.locator("nav a").all()]
    assert links == [*titles[:-1], None]


def test_all_links_are_in_one_line(chromium, reports):
    """Of a comparison, which has the most."""
    with visited(chromium, reports["two"]) as visit:
        tops, needed, width = visit.page.evaluate("""() => {
            const nav = document.querySelector('nav');
            const tops = new Set([...nav.children].map((link) => link.offsetTop));
            return [tops.size, nav.scrollWidth, nav.clientWidth];
        }""")
        assert tops == 1 and needed <= width


def test_links_in_sql_open_it(four):
    figure = four.locator(
        "figure", has=four.locator("figcaption", has_text="GPU time per device, in %")
    )
    figure.locator("summary").click()
    assert figure.locator("pre").nth(1).is_visible()
    query = four.locator("details#sql-temporal_breakdown")
    assert query.get_attribute("open") is None
    figure.locator("pre a", has_text="temporal_breakdown").click()
    four.wait_for_function("document.getElementById('sql-temporal_breakdown').open")
    assert "CREATE OR REPLACE MACRO temporal_breakdown_v1(" in query.locator("pre").inner_text()


def test_the_theme_can_be_chosen(chromium, reports):
    with visited(chromium, reports["quarantined"], theme="light") as visit:
        open_all(visit.page)

        def ground() -> str:
            return visit.page.evaluate("getComputedStyle(document.body).backgroundColor")

        def ink() -> str:
            """Of the first text in a chart."""
            return visit.page.evaluate(
                "getComputedStyle(document.querySelector('.xtick text')).fill"
            )

        light = ground(), ink()
        visit.page.click("#theme")
        visit.page.wait_for_timeout(500)
        dark = ground(), ink()
        assert light[0] != dark[0] and light[1] != dark[1]
        visit.page.click("#theme")
        visit.page.wait_for_timeout(500)
        assert (ground(), ink()) == light
        assert visit.said == []


def test_names_are_inert(chromium, reports):
    """Tags and quotes in names are shown as they are; no script of theirs runs."""
    with visited(chromium, reports[ODD]) as visit:
        page = visit.page
        open_all(page)
        assert page.evaluate("typeof hacked") == "undefined"
        assert page.locator("h1").inner_text() == ODD and page.title() == f"hta_sql: {ODD}"
        assert page.locator("img").count() == 0
        texts = page.locator("td").all_text_contents()
        assert {ODD_KERNEL + "op", ODD_HOST} <= set(texts)
        short_name = ODD_KERNEL.replace("</script>", "").replace("<script>", "")
        assert short_name in texts
        drawn = {text["text"] for texts in visit.texts() for text in texts}
        assert ODD_KERNEL + "op" in drawn
        assert visit.said == [] and visit.asked == []


def test_printing_shows_all_and_puts_it_back(chromium, reports, tmp_path):
    """A closed section, and a chart that was not drawn yet; then the page is as before."""
    look = """() => ({
        closed: document.querySelectorAll('section:not(#sql) > details:not([open])').length,
        drawn: document.querySelectorAll('.chart[data-drawn]').length,
        charts: document.querySelectorAll('.chart').length,
        theme: document.documentElement.dataset.theme,
        wide: [...document.querySelectorAll('.chart svg, canvas')].filter(
            (part) => part.getBoundingClientRect().right > 940
        ).length,
    })"""
    with visited(chromium, reports["quarantined"], theme="dark", until="script") as visit:
        page = visit.page
        page.evaluate(f"addEventListener('beforeprint', () => {{ shown = ({look})(); }})")
        before = page.evaluate(look)
        assert before["closed"] > 2 and before["drawn"] == 0
        page.pdf(path=tmp_path / "report.pdf")
        charts = before["charts"]
        assert page.evaluate("shown") == {
            "closed": 0,
            "drawn": charts,
            "charts": charts,
            "theme": "light",
            "wide": 0,
        }
        after = page.evaluate(look)
        assert after == before | {"drawn": charts, "wide": after["wide"]} and after["wide"]
        assert visit.said == []
