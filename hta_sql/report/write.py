"""Finds the sections of a report and collects their parts."""

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
    """The parts that a section's module yielded; `problems` are the errors that stopped it.

    `link` is the title in the line of links. `is_of_two` says that it compares two jobs. A section
    that is not open shows its title alone, until a click opens it.
    """

    name: str
    title: str
    link: str
    is_of_two: bool = False
    is_open: bool = False
    parts: list[Part] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def section_modules() -> list[ModuleType]:
    """All modules in hta_sql/report/sections, in the order of PLACE. Each file is a section.

    A module with OF_TWO is about two jobs. If there are two, only these sections are open.
    """
    names = [
        f"{sections.__name__}.{module.name}" for module in pkgutil.iter_modules(sections.__path__)
    ]
    modules = [importlib.import_module(name) for name in names]
    return sorted(modules, key=lambda module: module.PLACE)


def written_sections(subject: Subject, progress: Callable[[str, int, int], None]) -> list[Section]:
    """All sections, in order. A section without data has no parts."""
    modules = [module for module in section_modules() if subject.base or not is_of_two(module)]
    made = []
    for done, module in enumerate(modules):
        progress(module.TITLE, done, len(modules))
        made.append(_written(module, subject))
    return made


def is_of_two(module: ModuleType) -> bool:
    return getattr(module, "OF_TWO", False)


def _written(module: ModuleType, subject: Subject) -> Section:
    """A section that fails keeps the parts before the error, and does not affect the others."""
    name = module.__name__.rpartition(".")[2]
    is_open = getattr(module, "IS_OPEN", False) and (not subject.base or is_of_two(module))
    link = getattr(module, "LINK", module.TITLE)
    section = Section(name, module.TITLE, link, is_of_two(module), is_open)
    parts: Iterator[Part] = module.parts(subject)
    try:
        for part in parts:
            section.parts.append(part)
    except HtaSqlError as error:
        section.problems.append(str(error))
    return section
