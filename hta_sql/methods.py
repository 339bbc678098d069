"""Adds functions of other modules to open archives, as methods.

`hta_sql/__init__.py` names them. help() shows each with its signature and docstring, and a module
is imported only when its method is used.

Type checkers read methods.pyi, which also has the queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MethodType
from typing import Any


class Methods:
    """The base class of open archives, which has these methods."""


class MethodsOfTwo:
    """The base class of comparisons, whose methods are the queries that compare."""


class Later:
    """The function `name` of a module, as a method; imported when it is used."""

    def __init__(self, name: str, module: str):
        self.name, self.module = name, module

    def __get__(self, archive: Any, kind: type) -> Callable[..., Any]:
        function = getattr(import_module(self.module), self.name)
        return function if archive is None else MethodType(function, archive)


def add_methods(modules: Mapping[str, str]) -> None:
    """Add methods; `modules` maps the name of each function to its module."""
    for name, module in modules.items():
        setattr(Methods, name, Later(name, module))
