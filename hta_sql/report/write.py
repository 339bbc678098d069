"""Sections of a report: found, asked for their parts, and put together."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING

from hta_sql.errors import HtaSqlError
from hta_sql.report import sections
from hta_sql.report.parts import Part

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject


@dataclass
class Section:
    """What a section's module had to say; `problems` is what kept it from saying more."""

    name: str
    title: str
    parts: list[Part] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def section_modules() -> list[ModuleType]:
    """All modules in hta_sql/report/sections, by their PLACE: another file is another section."""
    names = [
        f"{sections.__name__}.{module.name}" for module in pkgutil.iter_modules(sections.__path__)
    ]
    modules = [importlib.import_module(name) for name in names]
    return sorted(modules, key=lambda module: module.PLACE)


def written_sections(subject: Subject, progress: Callable[[str, int, int], None]) -> list[Section]:
    """Every section that has something to say of the subject, in order."""
    modules = section_modules()
    made = []
    for done, module in enumerate(modules):
        progress(module.TITLE, done, len(modules))
        made.append(_written(module, subject))
    return made


def _written(module: ModuleType, subject: Subject) -> Section:
    """One that fails keeps what it has, and costs the others nothing."""
    section = Section(module.__name__.rpartition(".")[2], module.TITLE)
    parts: Iterator[Part] = module.parts(subject)
    try:
        for part in parts:
            section.parts.append(part)
    except HtaSqlError as error:
        section.problems.append(str(error))
    return section
