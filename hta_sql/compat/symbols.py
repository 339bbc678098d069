"""HTA's symbol table: a number for each name and category of a trace."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd


class SymbolTable:
    """The names and categories of a trace, in order of the alphabet.

    Attributes:
        sym_table: The names and categories; the index in this list is the id.
        sym_index: The id of each.
    """

    def __init__(self, symbols: Iterable[str]) -> None:
        self.sym_table = sorted(set(symbols))
        self.sym_index = {symbol: number for number, symbol in enumerate(self.sym_table)}

    def get_sym_table(self) -> list[str]:
        """All symbols, by id."""
        return self.sym_table

    def get_sym_id_map(self) -> dict[str, int]:
        """The id of each symbol."""
        return self.sym_index

    def get_sym_index(self) -> dict[str, int]:
        """The id of each symbol."""
        return self.sym_index

    def find_matched_symbols(self, patterns: Iterable[str]) -> list[str]:
        """The symbols that contain one of these texts."""
        texts = list(patterns)
        return [symbol for symbol in self.sym_table if any(text in symbol for text in texts)]

    def find_matches(self, patterns: Iterable[str]) -> list[int]:
        """The ids of the symbols that contain one of these texts."""
        return [self.sym_index[symbol] for symbol in self.find_matched_symbols(patterns)]

    def add_symbols_to_trace_df(self, trace_df: pd.DataFrame, col: str) -> None:
        """Replace the ids in a column of a trace's data frame by the symbols."""
        trace_df[col] = self.decoded(trace_df[col])

    def decoded(self, ids: pd.Series) -> pd.Series:
        """The symbols of a column of ids; an empty text where there is no such id."""
        return ids.map(dict(enumerate(self.sym_table))).fillna("")

    def encoded(self, symbols: pd.Series) -> pd.Series:
        """The ids of a column of symbols; -1 where there is no such symbol."""
        return symbols.map(self.sym_index).fillna(-1).astype("int64")
