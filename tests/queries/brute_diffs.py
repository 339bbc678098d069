"""What differs between two jobs, in plain Python."""

from collections import defaultdict
from statistics import median
from typing import Any

from queries.brute_diff_sides import (
    SIDES,
    Row,
    Sides,
    change,
    minus,
    near,
    noise,
    rounded,
    totals,
    trimmed,
)


def grouped(sides: Sides, rows: list[Row], key) -> dict[Any, dict[str, list[Row]]]:
    groups: dict[Any, dict[str, list[Row]]] = defaultdict(lambda: {"base": [], "test": []})
    for row in rows:
        for side in SIDES:
            if sides.has(side, row):
                groups[key(row)][side].append(row)
    return groups


def kernel_diff(tables: dict[str, list[Row]], **chosen: Any) -> list[Row]:
    sides = Sides(tables, chosen)
    name = "short_name" if chosen.get("short_names") else "name"
    groups = grouped(sides, tables["gpu_activities"], lambda row: (row[name],))
    kinds = {
        key: min(row["kind"] for rows in of.values() for row in rows) for key, of in groups.items()
    }
    return [
        row | {"grid": None, "block": None, "kind": kinds[(row["name"],)]}
        for row in totals(sides, groups, ["name"])
    ]


# Of the random names: what they are by the kernel, if the operator does several things.
CATEGORIES = {"sgemm": "gemm", "softmax": "softmax", "com": "other"}


def category(row: Row, operators: dict[tuple, str]) -> str:
    if row["kind"] in ("communication", "memory"):
        return row["kind"]
    if operators[row["job"], row["rank"], row["op_id"]] == "aten::convolution":
        return "convolution"
    return CATEGORIES[row["short_name"]]


def category_diff(tables: dict[str, list[Row]], **chosen: Any) -> list[Row]:
    sides = Sides(tables, chosen)
    operators = {
        (row["job"], row["rank"], row["event_id"]): row["name"] for row in tables["host_ops"]
    }
    name = "short_name" if chosen.get("short_names") else "name"
    groups = grouped(
        sides,
        tables["gpu_activities"],
        lambda row: (category(row, operators), row[name] if chosen.get("by_kernel") else None),
    )
    found = totals(sides, groups, ["category", "name"])
    for side in SIDES:
        whole = sum(row[f"{side}_total_ns"] for row in found)
        for row in found:
            row[f"{side}_frac"] = row[f"{side}_total_ns"] / whole if whole else None
    return found


def op_diff(tables: dict[str, list[Row]], **chosen: Any) -> list[Row]:
    sides = Sides(tables, chosen)
    ops = tables["host_ops"]
    called, launched = defaultdict(int), defaultdict(list)
    for row in ops:
        called[row["job"], row["rank"], row["parent_id"]] += row["dur_ns"]
    for row in tables["gpu_activities"]:
        launched[row["job"], row["rank"], row["op_id"]].append(row["dur_ns"])
    cats = chosen.get("only_cats")
    dims = "input_dims" if chosen.get("by_shape") else None
    groups = grouped(
        sides,
        [row for row in ops if cats is None or row["cat"] in cats],
        lambda row: (row["name"], row[dims] if dims else None),
    )
    found = totals(sides, groups, ["name", "input_dims"])
    for row in found:
        of = groups[row["name"], row["input_dims"]]
        row["cat"] = min(one["cat"] for rows in of.values() for one in rows)
        for side in SIDES:
            ids = [(one["job"], one["rank"], one["event_id"]) for one in of[side]]
            row[f"{side}_self_ns"] = row[f"{side}_total_ns"] - sum(called[id_] for id_ in ids)
            row[f"{side}_self_kernel_count"] = sum(len(launched[id_]) for id_ in ids)
            row[f"{side}_self_kernel_ns"] = sum(sum(launched[id_]) for id_ in ids)
        for what in ("self_ns", "self_kernel_count", "self_kernel_ns"):
            row[f"diff_{what}"] = row[f"test_{what}"] - row[f"base_{what}"]
    return found


def annotation_diff(tables: dict[str, list[Row]], **chosen: Any) -> list[Row]:
    sides = Sides(tables, chosen)
    by_id = {(row["job"], row["rank"], row["event_id"]): row for row in tables["host_ops"]}

    def stage(row: Row) -> str:
        return "ProfilerStep" if row["name"].startswith("ProfilerStep#") else row["name"]

    def around(row: Row, key: str = "annotation_id") -> Row | None:
        """The next annotation outwards, on the thread or by who waited for the thread."""
        top = by_id[row["job"], row["rank"], row["root_id"]]
        next_id = row[key] if row[key] is not None else top["caller_id"]
        return None if next_id is None else by_id[row["job"], row["rank"], next_id]

    groups = grouped(
        sides,
        [row for row in by_id.values() if row["cat"] == "user_annotation"],
        lambda row: (stage(row),),
    )
    inside: dict[tuple, list[int]] = defaultdict(list)
    for row in tables["gpu_activities"]:
        if row["annotation_id"] is not None:
            at = by_id[row["job"], row["rank"], row["annotation_id"]]
        elif row["launch_id"] is not None:
            at = around(by_id[row["job"], row["rank"], row["launch_id"]])
        else:
            continue
        stages = set()
        while at is not None:
            stages |= {(side, stage(at)) for side in SIDES if sides.has(side, at)}
            at = around(at)
        for key in stages:
            inside[key].append(row["dur_ns"])
    found = totals(sides, groups, ["name"])
    for row in found:
        for side in SIDES:
            row[f"{side}_kernel_count"] = len(inside[side, row["name"]])
            row[f"{side}_kernel_ns"] = sum(inside[side, row["name"]])
        for what in ("kernel_count", "kernel_ns"):
            row[f"diff_{what}"] = row[f"test_{what}"] - row[f"base_{what}"]
    return found


PARTS = ("idle", "compute", "exposed_communication", "exposed_memory")


ORDER = (
    "span",
    "busy",
    "idle",
    "compute",
    "non_compute",
    "exposed_communication",
    "exposed_memory",
    "communication",
    "memory",
)


def split(rows: list[Row]) -> dict[str, int]:
    """A device's time, each ns on its own: brute force over all instants."""
    first, last = min(row["start_ns"] for row in rows), max(row["end_ns"] for row in rows)
    time = dict.fromkeys(ORDER, 0)
    time["span"] = last - first
    for at in range(first, last):
        kinds = {row["kind"] for row in rows if row["start_ns"] <= at < row["end_ns"]}
        time["communication"] += "communication" in kinds
        time["memory"] += "memory" in kinds
        time["busy" if kinds else "idle"] += 1
        if "computation" in kinds:
            time["compute"] += 1
        elif kinds:
            time["non_compute"] += 1
            time["exposed_communication" if "communication" in kinds else "exposed_memory"] += 1
    return time


def by_device(rows: list[Row]) -> list[dict[str, int]]:
    devices = defaultdict(list)
    for row in rows:
        devices[row["job"], row["rank"], row["device"]].append(row)
    return [split(of) for of in devices.values()]


def temporal_diff(tables: dict[str, list[Row]], **chosen: Any) -> list[Row]:
    sides = Sides(tables, chosen)
    times = {
        side: by_device([row for row in tables["gpu_activities"] if sides.has(side, row)])
        for side in SIDES
    }
    if not any(times.values()):
        return []
    found = []
    for name in ORDER:
        row: Row = {"name": name}
        for side in SIDES:
            total = sum(time[name] for time in times[side])
            span = sum(time["span"] for time in times[side])
            count, units = len(times[side]), sides.units[side]
            row |= {
                f"{side}_count": count,
                f"{side}_total_ns": total,
                f"{side}_mean_ns": rounded(total, count) if count else None,
                f"{side}_frac": total / span if span else None,
                f"{side}_per_step_ns": rounded(total, units) if units else None,
            }
        for what in ("count", "total_ns", "mean_ns", "per_step_ns"):
            row[f"diff_{what}"] = minus(row[f"test_{what}"], row[f"base_{what}"])
        row["change"] = change(row["base_total_ns"], row["test_total_ns"])
        found.append(row)
    whole = sum(abs(row["diff_per_step_ns"] or 0) for row in found if row["name"] in PARTS)
    for row in found:
        is_part = row["name"] in PARTS and row["diff_per_step_ns"] is not None
        row["diff_frac"] = abs(row["diff_per_step_ns"]) / whole if is_part and whole else None
    return found


def step_diff(tables: dict[str, list[Row]], **chosen: Any) -> list[Row]:
    sides = Sides(tables, chosen)
    values: dict[str, dict[str, list[int]]] = {
        name: {"base": [], "test": []}
        for name in (
            "step_time",
            "gpu_span",
            "gpu_busy",
            "idle",
            "compute",
            "exposed_communication",
            "exposed_memory",
            "communication",
            "memory",
            "kernel_sum",
        )
    }
    for side in SIDES:
        numbers = sorted({step for _, step in sides.steps[side]})
        for number in numbers or ([None] if sides.units[side] else []):
            if number is None:
                ranks = {
                    row["rank"]
                    for row in tables["traces"]
                    if sides.has(side, {"job": row["job"], "rank": row["rank"], "step": None})
                }
            else:
                ranks = {rank for rank, step in sides.steps[side] if step == number}
                times = [sides.steps[side][rank, number] for rank in ranks]
                values["step_time"][side].append(rounded(sum(times), len(times)))
            sums: dict[str, int] = defaultdict(int)
            for rank in ranks:
                rows = [
                    row
                    for row in tables["gpu_activities"]
                    if (row["job"], row["rank"], row["step"]) == (sides.job[side], rank, number)
                ]
                sums["kernel_sum"] += sum(row["dur_ns"] for row in rows)
                for time in by_device(rows) if rows else []:
                    for name, ours in (
                        ("span", "gpu_span"),
                        ("busy", "gpu_busy"),
                        *((name, name) for name in (*PARTS, "communication", "memory")),
                    ):
                        sums[ours] += time[name]
            for name in values:
                if name != "step_time":
                    values[name][side].append(rounded(sums[name], len(ranks)))
    found = []
    for name, of in values.items():
        if not max([0, *of["base"], *of["test"]]):
            continue
        row: Row = {"name": name}
        for side in SIDES:
            n = sorted(of[side])
            row |= {f"{side}_count": len(n), f"{side}_total_ns": sum(n)}
            mean = trimmed(n)
            row[f"{side}_mean_ns"] = None if mean is None else near(mean)
            row[f"{side}_median_ns"] = near(median(n)) if n else None
            row[f"{side}_mad_ns"] = near(median(abs(x - median(n)) for x in n)) if n else None
        for what in ("count", "total_ns", "mean_ns"):
            row[f"diff_{what}"] = minus(row[f"test_{what}"], row[f"base_{what}"])
        means = [trimmed(sorted(of[side])) for side in SIDES]
        row["diff"] = None if None in means else means[1] - means[0]
        row["noise"] = noise(sorted(of["base"]), sorted(of["test"]))
        row["diff_ratio"] = row["diff"] / means[0] if row["diff"] is not None and means[0] else None
        found.append(row)
    return found
