"""Names that are cut in the cells of a table."""

import re
from itertools import product

from hta_sql.show.html import table_html


def test_names_that_differ_at_two_places_do_not_look_the_same():
    """Whatever is cut from these, two of them would look the same; so they are whole."""
    same = "x" * 30
    names = ["".join((same, a, same, b, same)) for a, b in product("ab", "cd")]
    rows = [(name, other) for name, other in zip(names, [names[0] + "e", *names[1:]], strict=True)]
    html = table_html(["kernel_name", "op_name"], rows, 40)
    shown = {}
    for whole, text in re.findall(r'<td[^>]* title="([^"]*)">([^<]*)</td>', html):
        assert shown.setdefault(whole, text) == text
    assert len(shown) == 5 and len(set(shown.values())) == 5
    one = table_html(["name"], [(names[0],), ("short",)], 40)
    [text] = re.findall(r'<td[^>]* class="cut"[^>]*>([^<]*)</td>', one)
    assert len(text) == 40 and "…" in text
