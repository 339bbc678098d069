"""What open archives can do beside `archive.py`: functions of folders above it, as methods.

`hta_sql/__init__.py` names them. So help() shows each with its signature and text, and nothing of
theirs is imported before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MethodType
from typing import Any


class Methods:
    """What an open archive inherits them from."""


class Later:
    """The function `name` of a module, as a method; imported when asked for."""

    def __init__(self, name: str, module: str):
        self._name, self._module = name, module

    def __get__(self, archive: Any, kind: type) -> Callable[..., Any]:
        function = getattr(import_module(self._module), self._name)
        return function if archive is None else MethodType(function, archive)


def add_methods(modules: Mapping[str, str]) -> None:
    """By name of the function, the module that has it."""
    for name, module in modules.items():
        setattr(Methods, name, Later(name, module))
