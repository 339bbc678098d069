"""Which operators of a call chain count, and what devices can do."""

import json
from collections import defaultdict
from functools import cache

from queries.brute_flop_costs import cost
from queries.brute_flop_lists import element_types, on_lists
from queries.brute_flop_servers import ATTENTIONS

cached_cost = cache(cost)


SPEEDS = {  # 1e12 dense operations a second, and GB/s of memory, as the vendors' data sheets say
    "A100": (
        {"float64": 19.5, "float32": 19.5, "tf32": 156.0, "float16": 312.0, "bfloat16": 312.0},
        1555.0,
    ),
    "V100": ({"float64": 7.8, "float32": 15.7, "float16": 125.0}, 900.0),
    "H100": (
        {"float64": 66.9, "float32": 66.9, "tf32": 494.7, "float16": 989.4, "bfloat16": 989.4},
        3352.0,
    ),
    "B200": ({"float32": 75.0, "tf32": 1125.0, "float16": 2250.0, "bfloat16": 2250.0}, 8000.0),
    "MI250": ({"float32": 45.3, "float16": 181.0, "bfloat16": 181.0}, 1638.0),
    "MI300X": ({"float32": 163.4, "float16": 1307.4, "bfloat16": 1307.4}, 5300.0),
}


DEVICES = {
    "NVIDIA A100-SXM4-40GB": "A100",
    "NVIDIA A100-PG509-200": "A100",
    "Tesla V100-SXM2-16GB": "V100",
    "Tesla V100-SXM2-32GB": "V100",
    "NVIDIA H100 80GB HBM3": "H100",
    "NVIDIA B200": "B200",
    "AMD Instinct MI250": "MI250",
    "AMD Instinct MI300X": "MI300X",
    "AMD Instinct MI300X VF": "MI300X",
}


PEAKS = {
    (device, dtype): peak
    for device, model in DEVICES.items()
    for dtype, peak in SPEEDS[model][0].items()
}


BANDWIDTHS = {device: SPEEDS[model][1] for device, model in DEVICES.items()}


def wanted(row, only_jobs, only_ranks, only_steps=None):
    return (
        (only_jobs is None or row["job"] in only_jobs)
        and (only_ranks is None or row["rank"] in only_ranks)
        and (only_steps is None or row["step"] in only_steps)
    )


def is_view_of_three(name, dims_text):
    return name == "aten::view" and len(json.loads(dims_text)[0]) == 3


class Nest:
    """The operators of some jobs: what each costs, and which count."""

    def __init__(self, ops, only_jobs, only_ranks, only_steps, with_bytes=True, activities=()):
        self.ops = {
            (row["job"], row["rank"], row["event_id"]): row
            for row in ops
            if row["cat"] in ("cpu_op", "Operator") and wanted(row, only_jobs, only_ranks)
        }
        self.rows = {(row["job"], row["rank"], row["event_id"]): row for row in ops}
        self.kernels = defaultdict(list)
        for row in activities:
            self.kernels[row["job"], row["rank"], row["op_id"]].append(row["name"])
        self.inside = defaultdict(list)
        for key, row in self.ops.items():
            self.inside[(*key[:2], row["op_id"])].append(row)
        self.costs = {}
        for key, row in self.ops.items():
            if row["input_dims"] is not None and wanted(row, None, None, only_steps):
                found = cached_cost(
                    row["name"],
                    row["input_dims"],
                    row["input_types"],
                    row["concrete_inputs"],
                    self.context(key),
                )
                if found and (with_bytes or found.flops is not None):
                    self.costs[key] = found
        self.has_call_inside, self.has_flops_inside = set(), set()
        for key, mine in self.costs.items():
            for outer in self.around(key):
                self.has_call_inside.add(outer)
                if mine.flops is not None:
                    self.has_flops_inside.add(outer)

    def context(self, key):
        """The annotation around attention, what is inside a mixture of experts, or the type of
        a list's elements."""
        name = self.ops[key]["name"]
        if on_lists(name):
            return element_types(self.kernels[key])
        if name in ATTENTIONS:
            around = self.ops[key].get("annotation_id")
            while around is not None:
                row = self.rows[(*key[:2], around)]
                if "sqsk" in row["name"]:
                    return row["name"]
                around = row.get("annotation_id")
        if name.startswith("vllm::moe_forward"):
            lines = {
                f"{row['input_dims']}\t{row['input_types']}"
                for row in self.inside[key]
                if row["input_dims"]
                and ("aten" not in row["name"] or is_view_of_three(row["name"], row["input_dims"]))
            }
            return "\n".join(lines) or None
        return None

    @cache  # noqa: B019 - lives as long as a test
    def chain(self, key):
        """An operator and those around it that have a cost, innermost first."""
        found = []
        while key is not None and key in self.ops:
            if key in self.costs:
                found.append(key)
            outer = self.ops[key]["op_id"]
            key = None if outer is None else (*key[:2], outer)
        return found

    def around(self, key):
        return self.chain(key)[1:]

    @cache  # noqa: B019
    def counts(self, key):
        if self.costs[key].flops is not None:
            return key not in self.has_flops_inside
        return key not in self.has_call_inside and not any(
            self.costs[outer].flops is not None and self.counts(outer) for outer in self.around(key)
        )

    def is_rerun(self, key):
        return any(
            row["is_backward"]
            and row["sequence_number"] is not None
            and row["sequence_number"] >= 0
            and not row["fwd_thread_id"]
            for row in (self.ops[at] for at in self.chain(key))
        )


def on_tensor_cores(name):
    """Of the names that these tests use."""
    return name is not None and ("tensorop" in name or "s1688gemm" in name)
