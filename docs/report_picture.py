"""Take the README's picture of a report: python docs/report_picture.py report.html docs/report.png

It shows the page from its top to the end of the picture of a step. It needs Chromium and
playwright.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

_WIDTH = 1280
_DRAWN = "document.querySelector('.step').picture !== undefined"
# The lower edge of the picture.
_END = "document.querySelector('.step').getBoundingClientRect().bottom + 12"


def take(report: Path, picture: Path) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": _WIDTH, "height": 800}, color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.wait_for_function(_DRAWN)
        clip = {"x": 0, "y": 0, "width": _WIDTH, "height": page.evaluate(_END)}
        page.screenshot(path=picture, clip=clip, full_page=True)
        browser.close()


if __name__ == "__main__":
    take(*map(Path, sys.argv[1:]))
