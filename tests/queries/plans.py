"""What DuckDB means to do for a statement."""

import json


def plan(con, sql):
    """All nodes of a statement's plan."""
    [(_, text)] = con.execute(f"EXPLAIN (FORMAT json) {sql}").fetchall()
    nodes, waiting = [], json.loads(text)
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting += node["children"]
    return nodes


def bad_joins(con, sql):
    """Joins that compare every row of a side with many of the other.

    Distinct names with the rules of kernel categories are not among them: both are few.
    """
    found = []
    for node in plan(con, sql):
        condition = node["extra_info"].get("Condition", "")
        if condition.startswith("contains(") and condition.endswith("pattern)"):
            continue
        conditions = node["extra_info"].get("Conditions", [])
        conditions = [conditions] if isinstance(conditions, str) else conditions
        if "CROSS" in node["name"] or "NESTED_LOOP" in node["name"] or "NL_JOIN" in node["name"]:
            found.append(node["name"])
        if "JOIN" in node["name"]:
            shifted = [c.replace(">>", "") for c in conditions]  # as in span >> 40 = rank_number
            found += [c for c in shifted if any(sign in c for sign in "<>!")]
    return found
