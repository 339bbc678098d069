"""Shows results in notebooks as tables with readable units."""

from __future__ import annotations

import sys

import pyarrow as pa

from hta_sql.show.html import result_html


def show_tables() -> None:
    """Make IPython show Arrow tables this way, if this runs in IPython.

    Arrow itself would print one column after the other. A formatter that is already set for Arrow
    tables stays.
    """
    shell = sys.modules["IPython"].get_ipython()
    formatter = shell and shell.display_formatter.formatters["text/html"]
    if formatter and pa.Table not in formatter.type_printers:
        formatter.for_type(pa.Table, result_html)
