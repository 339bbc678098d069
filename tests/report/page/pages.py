"""A report's page, read."""

import base64
import gzip
import json
from html.parser import HTMLParser
from pathlib import Path


class Page(HTMLParser):
    """A report taken apart: titles, facts, and figures with their table, data, SQL and command.
    A picture of a step has its data in `picture`. `bars` has what two bars say, each as a dict of
    times in ns."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.titles: list[str] = []
        self.facts: dict[str, tuple[str, str]] = {}  # value and word of each
        self.paragraphs: list[str] = []
        self.headings: list[str] = []  # of findings and causes
        self.figures: list[dict] = []
        self._texts: list[str] = []
        self._inside: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "figure":
            self.figures.append({"section": self.titles[-1], "heads": [], "rows": [], "pre": []})
            self._inside.append(tag)
        elif tag == "script":
            self._kind = given.get("type")
        elif tag == "div" and given.get("class") == "bar":
            self.figures[-1].setdefault("bars", []).append({})
        elif tag == "span" and "flex:" in (given.get("style") or "") and self._inside:
            name, ns = given["title"].partition(":")[0], given["style"].split()[0]
            self.figures[-1]["bars"][-1][name] = int(ns.removeprefix("flex:"))
        elif tag == "tr" and self._inside:
            self.figures[-1]["rows"].append([])
        elif tag == "th":
            self._column = given["title"]
        elif tag == "td":
            self._exact = given.get("title")
        elif tag == "small" and self._texts:
            self._value = "".join(self._texts)
        if tag in ("h2", "h3", "dt", "dd", "p", "small", "figcaption", "th", "td", "pre", "script"):
            self._texts = []

    def handle_data(self, data):
        self._texts.append(data)

    def handle_endtag(self, tag):
        text = "".join(self._texts)
        if tag == "h2":
            self.titles.append(text)
        elif tag == "h3":
            self.headings.append(text)
        elif tag == "dt":
            self._name = text
        elif tag == "dd":
            self.facts.setdefault(self._name, (self._value, text))
        elif tag == "p":
            self.paragraphs.append(text)
        elif tag == "figure":
            self._inside.pop()
        elif self._inside and tag == "figcaption":
            self.figures[-1]["caption"] = text
        elif self._inside and tag == "th":  # which shows the name without its unit
            self.figures[-1]["heads"].append(self._column)
        elif self._inside and tag == "td":
            self.figures[-1]["rows"][-1].append((text, self._exact))
        elif self._inside and tag == "pre":
            self.figures[-1]["pre"].append(text)
        elif self._inside and tag == "script" and self._kind == "application/json":
            self.figures[-1]["drawn"] = json.loads(text)
        elif self._inside and tag == "script":
            self.figures[-1]["picture"] = json.loads(gzip.decompress(base64.b64decode(text)))

    def figure(self, caption: str) -> dict:
        [found] = [figure for figure in self.figures if figure["caption"].startswith(caption)]
        return found


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"
