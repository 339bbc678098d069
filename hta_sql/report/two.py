"""Parts of a comparison as HTML: what changed as a list, and the times of two jobs as bars."""

from __future__ import annotations

from html import escape

from hta_sql.comparison.words import signed
from hta_sql.report.parts import Bars, Cards
from hta_sql.show.units import humane


def cards_html(part: Cards) -> str:
    cards = "".join(
        f"<li><h3>{escape(sentence)}</h3><p><small>{escape(figures)}</small></p>"
        f"<details><summary>Command</summary><pre>{escape(command)}</pre></details></li>"
        for sentence, figures, command in part.items
    )
    return f'<ol class="findings">{cards}</ol>'


def bars_html(part: Bars) -> str:
    """The caption, a bar per job, and a legend that has the times of each part."""
    most = max(1, *(sum(times.values()) for _, _, times in part.bars))
    rows = "".join(
        f"<span>{escape(label)}</span><div>{_bar(times, most, part)}"
        f'<span class="whole">{humane("t_ns", whole)}</span></div>'
        for label, whole, times in part.bars
    )
    (_, _, was), (_, _, now) = part.bars
    legend = "".join(
        f'<li><span style="color:{colour}">■</span> {escape(name)} {humane("t_ns", was[name])}, '
        f"now {humane('t_ns', now[name])} ({signed(now[name] - was[name])})</li>"
        for name, colour in part.colours.items()
        if was[name] or now[name]
    )
    return (
        f"<figcaption>{escape(part.caption)}</figcaption>"
        f'<div class="pair">{rows}</div><ul class="pair-legend">{legend}</ul>'
    )


def _bar(times: dict[str, int], most: int, part: Bars) -> str:
    share = sum(times.values()) / most  # of the longest bar; two.css leaves room for its time
    pieces = "".join(
        f'<span title="{escape(name)}: {humane("t_ns", times[name])}" '
        f'style="flex:{times[name]} 0 0;background:{colour}"></span>'
        for name, colour in part.colours.items()
    )
    return f'<div class="bar" style="--share:{share:.5f}">{pieces}</div>'
