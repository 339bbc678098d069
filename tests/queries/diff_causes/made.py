"""Two small jobs that differ in what a test changes."""

import random
from dataclasses import dataclass, replace
from itertools import count

from queries.collectives import call

STEPS = 4


# Made-up jobs


@dataclass(frozen=True)
class Op:
    """An operator: what it calls, which kernels it launches for how long, its time without both;
    the operator of its backward pass, if any."""

    name: str
    inside: tuple["Op", ...] = ()
    dims: str | None = "[[8,8]]"
    kernels: tuple[tuple[str, int], ...] = ()
    own_ns: int = 10_000
    backward: "Op | None" = None
    launch_ns: int = 2_000


def op(name, *inside, **given) -> Op:
    return Op(name, inside, **given)


class Made:
    """Rows of a job whose durations, on the host and on the GPU, scatter by `noise` either way.

    `program` has the operators of a step, or gives them for its number; `factor` says for a rank
    and a step how many times as long the kernels take.
    """

    def __init__(
        self,
        job,
        program,
        *,
        steps=STEPS,
        ranks=1,
        seed=0,
        noise=0.02,
        factor=lambda rank, step: 1,
        marked=True,
    ):
        self.job, self.noise, self.factor, self.marked = job, noise, factor, marked
        self.rng, self.ids = random.Random(f"{seed} {job}"), count()
        self.host_ops, self.gpu_activities = [], []
        self.traces = [{"job": job, "rank": rank} for rank in range(ranks)]
        self.run_steps(program, steps=steps, ranks=ranks)

    def run_steps(self, program, *, steps, ranks) -> None:
        for self.rank in range(ranks):
            self.now = self.free = 1_000_000
            for self.step in range(steps):
                self.run_step(program(self.step) if callable(program) else program)

    def run_step(self, program) -> None:
        start_ns, waiting = self.now, []
        for operator in program:
            self.run(operator, None, None, waiting)
        for backward, forward_id in reversed(waiting):
            self.run(backward, None, forward_id, [])
        if self.marked:
            self.add_host("user_annotation", f"ProfilerStep#{self.step}", start_ns)

    def run(self, operator: Op, op_id, forward_id, waiting) -> None:
        event_id, start_ns = next(self.ids), self.now
        self.now += self.about(operator.own_ns)
        for inner in operator.inside:
            self.run(inner, event_id, forward_id, waiting)
        for name, dur_ns in operator.kernels:
            launched_ns = self.now
            self.now += self.about(operator.launch_ns)
            self.add_host("cuda_runtime", "cudaLaunchKernel", launched_ns, op_id=event_id)
            self.launch(name, dur_ns, event_id)
        self.add_host(
            "cpu_op",
            operator.name,
            start_ns,
            event_id=event_id,
            op_id=op_id,
            parent_id=op_id,
            input_dims=operator.dims,
            is_backward=forward_id is not None,
            forward_id=forward_id,
        )
        if operator.backward:
            waiting.append((operator.backward, event_id))

    def launch(self, name, dur_ns, op_id=None) -> None:
        start_ns = max(self.now, self.free)
        self.free = start_ns + self.about(dur_ns * self.factor(self.rank, self.step))
        self.gpu_activities.append(
            {
                "job": self.job,
                "rank": self.rank,
                "event_id": next(self.ids),
                "name": name,
                "short_name": name.split("<")[0],
                "step": self.of_step(),
                "op_id": op_id,
                "start_ns": start_ns,
                "end_ns": self.free,
            }
        )

    def add_host(self, cat, name, start_ns, **given) -> None:
        self.host_ops.append(
            {
                "job": self.job,
                "rank": self.rank,
                "event_id": next(self.ids),
                "cat": cat,
                "name": name,
                "step": self.of_step(),
                "start_ns": start_ns,
                "end_ns": self.now,
            }
            | given
        )

    def of_step(self):
        return self.step if self.marked else None

    def about(self, ns) -> int:
        return round(ns * self.rng.uniform(1 - self.noise, 1 + self.noise))


def together(*jobs) -> dict:
    names = ("gpu_activities", "host_ops", "traces")
    return {name: [row for job in jobs for row in getattr(job, name)] for name in names}


def causes(small, base, test, seed=0, **parameters) -> list[dict]:
    """All causes; the rows of the tables are in any order."""
    rng = random.Random(seed)
    tables = together(base, test)
    small.fill(**{table: rng.sample(rows, len(rows)) for table, rows in tables.items()})
    rows = small.run("diff_causes", **parameters)
    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    return rows


def named(rows) -> list[tuple]:
    return [(row["cause"], row["name"]) for row in rows]


def columns(rows, *names) -> list[tuple]:
    return [tuple(row[name] for name in names) for row in rows]


MM = op("aten::mm", kernels=(("gemm<128>", 50_000),))


LINEAR = op(
    "aten::linear",
    op("aten::t"),
    MM,
    backward=op("autograd: MmBackward0", op("MmBackward0", MM, replace(MM, dims="[[8,9]]"))),
)


RELU = op(
    "aten::relu",
    kernels=(("elementwise<relu>", 20_000),),
    backward=op("autograd: ReluBackward0", kernels=(("elementwise<drelu>", 20_000),)),
)


COPY = op("aten::copy_", kernels=(("copy<1>", 30_000),))


CLONE = op("aten::clone", op("aten::empty_like", op("aten::empty")), COPY)


NORM = op("aten::norm", COPY, kernels=(("reduce<1>", 15_000),))


BLOCK = [LINEAR, RELU, NORM]


def step(*operators, times=3) -> list[Op]:
    """A step of a few blocks, and an operator that also calls what some of them do."""
    return [*[op("block", *operators)] * times, op("aten::save", CLONE)]


BASE = step(*BLOCK)


def slower(operator: Op, times: float, own=1.0) -> Op:
    """The operator and all in it with kernels, and its own time, that many times as long."""
    return replace(
        operator,
        inside=tuple(slower(inner, times) for inner in operator.inside),
        kernels=tuple((name, round(ns * times)) for name, ns in operator.kernels),
        own_ns=round(operator.own_ns * own),
    )


# Shapes

OTHER = "[[16,8]]"


def reshaped(dims_of_gradient) -> Op:
    """Twice as large, and so is what it calls; its backward pass gets a gradient of these."""
    larger = slower(MM, 2)
    node = op(
        "MmBackward0",
        replace(larger, dims=OTHER),
        replace(larger, dims="[[16,9]]"),
        dims=dims_of_gradient,
    )
    return replace(
        LINEAR,
        dims=OTHER,
        inside=(op("aten::t"), replace(larger, dims=OTHER)),
        backward=op("autograd: MmBackward0", node),
    )


RESHAPED = reshaped(OTHER)


# Transfers


def exchanges(job, *, transfer_ns=100_000, late_ns=0, seed=0, steps=STEPS) -> Made:
    """Two ranks with three all-reduces a step; rank 1 comes up to so much too late."""
    made = Made(job, [op("block", RELU, own_ns=500_000)], ranks=2, steps=steps, seed=seed)
    first = {
        row["step"]: row["start_ns"]
        for row in made.host_ops
        if row["cat"] == "user_annotation" and row["rank"] == 0
    }
    rng = random.Random(f"late {seed} {job}")
    for number, start_ns in first.items():
        for i in range(3):
            starts = [start_ns + 150_000 * i, start_ns + 150_000 * i + rng.randint(0, late_ns)]
            end_ns = max(starts) + made.about(transfer_ns)
            made.gpu_activities += [
                call(
                    rank,
                    starts[rank],
                    end_ns,
                    job=job,
                    step=number,
                    seq=10 * number + i + 1,
                    event_id=10 * number + i,
                )
                for rank in (0, 1)
            ]
    return made


FETCH = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def with_fetches(made: Made, *durations) -> Made:
    """A batch fetched at the beginning of each step."""
    marks = [row for row in made.host_ops if row["cat"] == "user_annotation"]
    for row, dur_ns in zip(marks, durations, strict=True):
        fetch = {"event_id": next(made.ids), "name": FETCH, "end_ns": row["start_ns"] + dur_ns}
        made.host_ops.append(row | fetch)
    return made


def table(con, name, columns, rows) -> None:
    """A table of these rows, shuffled."""
    con.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({columns})")
    if rows:
        places = ", ".join("?" * len(rows[0]))
        con.executemany(f"INSERT INTO {name} VALUES ({places})", random.sample(rows, len(rows)))
