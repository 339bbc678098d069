"""How results look in a notebook: as tables with humane units."""

from __future__ import annotations

import sys

import pyarrow as pa

from hta_sql.show.html import result_html


def show_tables() -> None:
    """Let IPython, where this runs in it, show Arrow tables so; Arrow itself prints all columns.

    What somebody else has told IPython of Arrow tables stays.
    """
    shell = sys.modules["IPython"].get_ipython()
    formatter = shell and shell.display_formatter.formatters["text/html"]
    if formatter and pa.Table not in formatter.type_printers:
        formatter.for_type(pa.Table, result_html)
