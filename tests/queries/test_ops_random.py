"""op_stats and op_calls over random rows, against plain Python."""

import json
import random

import pytest
from queries import brute_ops, brute_sequences
from queries.brute_force import grouped
from queries.brute_ops import key, with_all_around
from queries.small_tables import completed
from seeds import seeds

SEEDS = range(5)


JOBS = 20


UNIX = 1_712_151_111_631_234_567  # more digits than a double holds


NAMES = ("aten::mm", "aten::mm", "aten::linear", "aten::add", None)


CATS = (
    "cpu_op",
    "cpu_op",
    "cpu_op",
    "Operator",
    "user_annotation",
    "python_function",
    "cuda_runtime",
    "cuda_runtime",
    "cuda_driver",
    "Runtime",
)


SHAPES = (None, "[[2,3]]", "[[4]]")


def random_tables(rng):
    activities, ops = [], []
    for number in range(JOBS):
        base, longest = rng.choice([0, UNIX]), rng.choice([2, 6, 20, 40])
        threads = rng.choice([[("1", "1")], [("1", "1"), ("1", "2")], [("1", "1"), (None, None)]])
        for rank in rng.choice([[0], [0, 1, 3]]):
            common = {"job": f"job{number}", "rank": rank}
            ids = rng.sample(range(200), 200)
            rows = []
            for _ in range(rng.choice([0, 2, 6, 15, 40])):
                pid, tid = rng.choice(threads)
                start_ns, dur_ns = base + rng.randint(0, 30), rng.randint(0, longest)
                if rows and rng.random() < 0.7:  # in another one
                    outer = rng.choice(rows[-3:])
                    pid, tid = outer["pid"], outer["tid"]
                    start_ns = rng.randint(outer["start_ns"], outer["end_ns"])
                    dur_ns = rng.randint(0, outer["end_ns"] - start_ns)
                rows.append(
                    completed(
                        "host_ops",
                        common
                        | {
                            "cat": rng.choice(CATS),
                            "name": rng.choice(NAMES),
                            "pid": pid,
                            "tid": tid,
                            "step": rng.choice([None, 1, 2]),
                            "cut_ns": None,
                            "input_dims": rng.choice(SHAPES),
                            "input_types": rng.choice([None, '["int"]']),
                            "is_backward": rng.random() < 0.5,
                            "forward_id": rng.choice([None, 7]),
                            "sequence_number": rng.choice([None, -1, 0, 3]),
                            "fwd_thread_id": rng.choice([None, 0, 1]),
                            "start_ns": start_ns,
                            "dur_ns": dur_ns,
                        },
                        ids.pop(),
                    )
                )
            brute_sequences.place(rows)
            place_ops(rows)
            ops += rows
            for _ in range(rng.choice([0, 3, 30])):
                launch = rng.choice(rows) if rows and rng.random() < 0.9 else None
                soon = launch["start_ns"] if launch and rng.random() < 0.5 else base
                activities.append(
                    completed(
                        "gpu_activities",
                        common
                        | {
                            "kind": rng.choice(["computation"] * 3 + ["communication", "memory"]),
                            "name": rng.choice(["sgemm", "softmax", "k", None]),
                            "device": rng.choice([0, 1, None]),
                            "stream": rng.choice([0, 7, None]),
                            "short_name": None,
                            "step": rng.choice([None, 1, 2]),
                            "start_ns": soon + rng.randint(0, 30),
                            "dur_ns": rng.randint(0, 9),
                            "launch_id": launch and launch["event_id"],
                            "op_id": launch and launch["op_id"],
                        },
                        ids.pop(),
                    )
                )
    return activities, ops


def place_ops(ops) -> None:
    """Fill in depth and, where spans cross, the operator: the last to begin that is around."""
    by_id = {row["event_id"]: row for row in ops}
    for _, thread in grouped(ops, "pid", "tid"):
        thread.sort(key=brute_sequences.in_stack_order)
        for at, row in enumerate(thread):
            caller = by_id.get(row["parent_id"])
            row["depth"] = caller["depth"] + 1 if caller else 0
            around = [
                one["event_id"]
                for one in thread[:at]
                if brute_sequences.is_op(one) and brute_sequences.holds(one, row)
            ]
            row["op_id"] = around[-1] if around else None


def random_parameters(rng):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [1, 2], []]),
        "name_contains": rng.choice(["mm", "aten::", "x"]),
    }
    return {name: value for name, value in parameters.items() if rng.random() < 0.4}


@pytest.mark.parametrize("deep_level", [512, 0, 3], ids=["shallow", "deep", "both"])
@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_rows(host, seed, deep_level):
    """Climbing from call to caller, and in the order in which operators begin."""
    rng = random.Random(seed)
    activities, ops = random_tables(rng)
    with host.replaced("deep_level", deep_level):
        compare_all(host, rng, activities, ops, seed)


def compare_all(host, rng, activities, ops, seed):
    events, strides = with_strides(rng, ops)
    tables = {"gpu_activities": activities, "host_ops": ops, "events": events}
    for query, own in [
        ("op_stats", {}),
        ("op_stats", {"by_shape": True}),
        ("op_stats", {"by_strides": True}),
        ("op_calls", {}),
        ("op_calls", {"min_kernels": rng.choice([1, 2, 5])}),
    ]:
        for given in (own, own | random_parameters(rng)):
            more = {"strides": strides} if query == "op_stats" else {}
            wanted = list(getattr(brute_ops, query)(activities, ops, **given, **more))
            host.compare(query, wanted, tables, seed, **given)


def with_strides(rng, ops) -> tuple[list[dict], dict[tuple, str]]:
    """The events of operators, some with strides; and the strides, by the key of the operator."""
    events, strides = [], {}
    for row in ops:
        args = {"External id": 1}
        if brute_sequences.is_op(row) and rng.random() < 0.8:
            args["Input Strides"] = rng.choice([[[3, 1]], [[1, 3], []]])
            strides[key(row)] = json.dumps(args["Input Strides"], separators=(",", ":"))
        columns = ("job", "rank", "event_id", "cat", "start_ns", "dur_ns")
        events.append({name: row[name] for name in columns} | {"args": json.dumps(args)})
    return events, strides


@pytest.mark.seeds
def test_random_rows_are_worth_it():
    """Every case that the queries have to tell apart comes up, and often."""
    found = dict.fromkeys(
        (
            "deep",
            "in its own name",
            "and not directly",
            "not in its step",
            "cut",
            "around, not on the stack",
            "no length",
            "called nothing",
            "at once",
            "more than the span",
            "launched by no operator",
        ),
        0,
    )
    for seed in SEEDS:
        activities, ops = random_tables(random.Random(seed))
        calls = brute_ops.operators(ops)
        for row in calls.values():
            around = with_all_around(calls, row)
            names = [one["name"] for one in around]
            found["deep"] += len(around) > 3
            found["in its own name"] += row["name"] in names
            found["and not directly"] += row["name"] in names and row["name"] != names[0]
            found["not in its step"] += any(one["step"] != row["step"] for one in around)
            found["cut"] += row["cut_ns"] is not None
            found["no length"] += row["dur_ns"] == 0
        stacks = brute_sequences.Stacks(ops)
        for row in ops:
            on_stack = {one["event_id"] for one in stacks.around(*key(row))}
            found["around, not on the stack"] += (
                row["op_id"] is not None and row["op_id"] not in on_stack
            )
        for row in brute_ops.op_stats(activities, ops):
            found["called nothing"] += row["host_self_ns"] == row["host_total_ns"]
            found["at once"] += row["kernel_busy_ns"] < row["kernel_ns"]
            found["more than the span"] += (row["gpu_utilization_frac"] or 0) > 1
        found["launched by no operator"] += sum(row["op_id"] is None for row in activities)
    assert min(found.values()) > 20, found
