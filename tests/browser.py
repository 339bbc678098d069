"""Pages in a real Chromium: what they say, ask of a network, draw, and whether it can be read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# All texts that a chart shows, as the corners of their boxes on the screen and their size in px.
# The boxes lose a little on each side: they leave room for letters with accents and tails.
_TEXTS = """() => [...document.querySelectorAll('.js-plotly-plot')].map((chart) => (
  [...chart.querySelectorAll('svg.main-svg text')].filter((text) => (
    text.textContent.trim() && !text.closest('.hoverlayer')
    && text.checkVisibility({opacityProperty: true, visibilityProperty: true})
  )).map((text) => {
    const chartBox = chart.getBoundingClientRect();
    const box = text.getBBox();
    const to = text.getScreenCTM();
    const scale = Math.hypot(to.a, to.b);
    const [x, y] = [2 / scale, 3 / scale];
    const corners = [
      [box.x + x, box.y + y], [box.x + box.width - x, box.y + y],
      [box.x + box.width - x, box.y + box.height - y], [box.x + x, box.y + box.height - y],
    ].map(([x, y]) => [to.a * x + to.c * y + to.e, to.b * x + to.d * y + to.f]);
    const lines = [text, ...text.querySelectorAll('tspan')];
    const sizes = lines.map((line) => parseFloat(getComputedStyle(line).fontSize));
    const size = scale * Math.min(...sizes);
    const inside = corners.every(([x, y]) => (
      x >= chartBox.left && x <= chartBox.right && y >= chartBox.top && y <= chartBox.bottom
    ));
    return {text: text.textContent, corners, size, inside, wide: box.width > 2 * x};
  }).filter((text) => text.wide)
))"""

# The marks of a chart, of any kind of trace that there is.
_MARKS = """() => [...document.querySelectorAll('.js-plotly-plot')].map((chart) => (
  chart.querySelectorAll([
    '.bars .point path', '.scatterlayer .js-line', '.scatterlayer path.point', '.pielayer .slice',
    '.heatmaplayer image', '.iciclelayer .slice',
  ].join(', ')).length
))"""


@dataclass
class Visit:
    """A page that is open, and what it did since."""

    page: Page
    said: list[str] = field(default_factory=list)  # warnings and errors on its console
    asked: list[str] = field(default_factory=list)  # URLs of another kind than file: and data:

    def texts(self) -> list[list[dict]]:
        """Of each chart the texts that it shows."""
        return self.page.evaluate(_TEXTS)

    def overlaps(self) -> list[tuple[int, str, str]]:
        """Pairs of texts of one chart of which one is written over the other."""
        return [
            (chart, one["text"], other["text"])
            for chart, texts in enumerate(self.texts())
            for place, one in enumerate(texts)
            for other in texts[:place]
            if _meet(one["corners"], other["corners"])
        ]

    def marks(self) -> list[int]:
        """How many marks each chart has."""
        return self.page.evaluate(_MARKS)

    def colour(self, name: str) -> str:
        """A variable of the page's style."""
        return self.page.evaluate(
            "(name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()",
            name,
        )


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window; the test skips where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: a browser test")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium on PATH: a browser test")
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(_OPTIONS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visited(
    browser: Browser, file: Path, width: int = 1280, theme: str = "light", until: str = "true"
) -> Iterator[Visit]:
    """A file opened from disk, when the JavaScript `until` is true in it."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme, offline=False
    )
    page = context.new_page()
    visit = Visit(page)
    page.on(
        "console",
        lambda message: (
            visit.said.append(f"{message.type}: {message.text}")
            if message.type in ("error", "warning")
            else None
        ),
    )
    page.on("pageerror", lambda error: visit.said.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("file:", "data:", "blob:"))
            else visit.asked.append(request.url)
        ),
    )
    page.goto(file.as_uri())
    page.wait_for_function(until, timeout=60_000)
    try:
        yield visit
    finally:
        context.close()


def contrast(one: str, other: str) -> float:
    """Of two colours written #rrggbb, as WCAG has it: 1 to 21."""
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    assert len(colour) == 7 and colour[0] == "#", colour
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _meet(one: list[list[float]], other: list[list[float]]) -> bool:
    """Whether two rectangles, upright or turned, have a point in common."""
    for box in (one, other):
        for (ax, ay), (bx, by) in ((box[0], box[1]), (box[1], box[2])):
            along = bx - ax, by - ay
            mine, yours = (
                [x * along[0] + y * along[1] for x, y in corners] for corners in (one, other)
            )
            if max(mine) <= min(yours) or max(yours) <= min(mine):
                return False
    return True
