"""The parts of a section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hta_sql.diagnosis.job import Diagnosis
    from hta_sql.plot.drawing import Drawing
    from hta_sql.report.subject import Answer


@dataclass(frozen=True)
class Facts:
    """A few prominent figures: (name, value, explanation)."""

    items: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Text:
    """Sentences, one paragraph each. With `is_warning` they stand out."""

    lines: Sequence[str]
    is_warning: bool = False


@dataclass(frozen=True)
class Warnings:
    """What is wrong with the traces: the first line is shown, a click opens the others.

    `about` names the traces, such as "these traces".
    """

    about: str
    lines: Sequence[str]


@dataclass(frozen=True)
class Chart:
    """A drawing, and the answer that it draws."""

    caption: str
    answer: Answer
    drawing: Drawing


@dataclass(frozen=True)
class Table:
    """The first `most` rows of an answer, with `columns`; by default all columns but the job.

    `heads` has words for columns whose own names do not say enough.
    """

    caption: str
    answer: Answer
    columns: Sequence[str] | None = None
    most: int = 100
    heads: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return list(
            self.columns or (name for name in self.answer.table.column_names if name != "job")
        )

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        few = self.answer.table.select(self.names).slice(0, self.most)
        return [tuple(row.values()) for row in few.to_pylist()]


@dataclass(frozen=True)
class Findings:
    """The findings of a job and the split of a step. `sections` has the section that shows the
    figures of a rule."""

    diagnosis: Diagnosis
    answer: Answer
    sections: Mapping[str, str]


@dataclass(frozen=True)
class Picture:
    """The step as one picture: its data (see report.step.picture), and what lists it."""

    caption: str
    answer: Answer
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Cards:
    """What changed, the largest change first: (sentence, figures, command)."""

    items: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Bars:
    """The times of two jobs as a bar each, on one scale.

    `bars` has the label of each bar, the time of the whole in ns, and of its parts by name.
    `colours` has the colour of each part.
    """

    caption: str
    answer: Answer
    bars: Sequence[tuple[str, int, Mapping[str, int]]]
    colours: Mapping[str, str]


Part = Facts | Text | Warnings | Chart | Table | Findings | Picture | Cards | Bars
