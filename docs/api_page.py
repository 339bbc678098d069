"""Write docs/api.md from the docstrings of the public API: python docs/api_page.py > docs/api.md"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import griffe

# The classes that functions return, and what else is public, by module.
_TYPES = [
    "hta_sql.archive.Archive",
    "hta_sql.comparison.comparison.Comparison",
    "hta_sql.comparison.condition.Verdict",
    "hta_sql.diagnosis.diagnoses.Diagnoses",
    "hta_sql.diagnosis.job.Diagnosis",
    "hta_sql.diagnosis.job.Facts",
    "hta_sql.diagnosis.job.Finding",
    "hta_sql.diagnosis.job.Note",
    "hta_sql.ingestion.summary.IngestSummary",
    "hta_sql.ingestion.tasks.Outcome",
    "hta_sql.critical_path.compute.ComputedPath",
    "hta_sql.fleet.materialize.Materialized",
    "hta_sql.keeping.compact.Compaction",
    "hta_sql.keeping.move.Copied",
]
_ERRORS = ["HtaSqlError", "ArchiveError", "IngestError", "UnknownQuery", "BadParameter"]
_HEAD = """\
# Python API

<!-- Generated: python docs/api_page.py > docs/api.md -->

The functions of `hta_sql`, the classes that they return, and the charts of `hta_sql.plot`.
[Python](python.md) has examples. The queries are methods of `Archive`; their parameters and columns
are in [Queries and tables](queries.md)."""


def page() -> str:
    logging.getLogger("griffe").setLevel(logging.CRITICAL)
    package = griffe.load(
        "hta_sql", search_paths=[Path(__file__).parents[1]], docstring_parser="google"
    )
    functions = [name for name in package.exports or [] if name[0].islower()]
    parts = [_HEAD, "## Functions"]
    for name in functions:
        found = package[name]
        if found.is_module:  # a package that is a function, too
            found = found[name]
        function = found.final_target if found.is_alias else found
        parts += _function(function, f"hta_sql.{name}", 3)
    parts += ["## Classes"]
    for path in _TYPES:
        parts += _class(package[path.removeprefix("hta_sql.")])
    parts += ["## Errors"]
    for name in _ERRORS:
        error = package[f"errors.{name}"]
        bases = ", ".join(f"`{base}`" for base in error.bases)
        parts += [f"### {name}", f"A {bases}. {_text(error)}"]
    parts += ["## Charts", _text(package["plot"])]
    for name in sorted(_charts(package)):
        parts += _function(_charts(package)[name], f"plot.{name}", 3)
    return "\n\n".join(part for part in parts if part) + "\n"


def _charts(package: griffe.Module) -> dict[str, griffe.Function]:
    plot = package["plot"]
    return {
        function.name: function
        for module in plot.modules.values()
        for function in module.functions.values()
        if function.name in plot.exports
    }


def _class(found: griffe.Class) -> Iterator[str]:
    yield f"### {found.name}"
    yield from _docstring(found)
    for member in found.members.values():
        if member.name.startswith("_") or not member.has_docstring:
            continue
        if member.is_function:
            yield from _function(member, f"{found.name}.{member.name}", 4)
        elif member.is_attribute:
            yield f"#### {found.name}.{member.name}"
            yield from _docstring(member)


def _function(found: griffe.Function, title: str, level: int) -> Iterator[str]:
    yield f"{'#' * level} {title}"
    yield f"```\n{_signature(found, title)}\n```"
    yield from _docstring(found)


def _signature(found: griffe.Function, title: str) -> str:
    shown, kind = [], None
    for parameter in found.parameters:
        if parameter.name in ("self", "cls"):
            continue
        starts = parameter.kind is griffe.ParameterKind.keyword_only
        if starts and kind not in (parameter.kind, griffe.ParameterKind.var_positional):
            shown.append("*")
        kind = parameter.kind
        star = {"variadic positional": "*", "variadic keyword": "**"}.get(kind.value, "")
        text = f"{star}{parameter.name}"
        text += f": {parameter.annotation}" if parameter.annotation else ""
        is_long = str(parameter.default).startswith("lambda")
        if parameter.default and not star:
            text += " = …" if is_long else f" = {parameter.default}"
        shown.append(text)
        if kind is griffe.ParameterKind.positional_only:
            shown.append("/")
    returns = f" -> {found.returns}" if found.returns else ""
    line = f"{title.rpartition('.')[2]}({', '.join(shown)}){returns}"
    if len(line) <= 96:
        return line
    return f"{title.rpartition('.')[2]}(\n" + "".join(f"    {s},\n" for s in shown) + f"){returns}"


def _docstring(found: griffe.Object) -> Iterator[str]:
    for section in found.docstring.parsed if found.docstring else []:
        kind = section.kind.value
        if kind == "text":
            yield section.value.strip()
        elif kind in ("parameters", "attributes"):
            yield "\n".join(f"- `{item.name}`: {_line(item.description)}" for item in section.value)
        elif kind in ("returns", "raises", "warns"):
            word = {"returns": "Returns", "raises": "Raises", "warns": "Warns"}[kind]
            for item in section.value:
                what = f" `{item.annotation}`" if kind != "returns" else ""
                yield f"**{word}**{what}: {_line(item.description)}"
        elif kind == "examples":
            for _, text in section.value:
                yield f"```\n{text.strip()}\n```"
        else:
            raise ValueError(f"{found.path}: a section {kind!r}")


def _line(text: str) -> str:
    return " ".join(text.split())


def _text(found: griffe.Object) -> str:
    return found.docstring.value.strip() if found.docstring else ""


if __name__ == "__main__":
    sys.stdout.write(page())
