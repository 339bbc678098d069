"""Jobs drawn by hand, and the rows of a single rule for them."""

import json
import re
from functools import cache

from queries.small_tables import Rows, SmallTables

from hta_sql.catalogue.findings import rule_files
from hta_sql.catalogue.root import sql_root

A100, H100 = "NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3"
BF16 = "c10::BFloat16"
US = 1_000
_SIGNATURE = re.compile(
    r"^CREATE OR REPLACE MACRO (find|shared)_(\w+)\((.*?)\) AS TABLE", re.M | re.S
)


@cache
def _parameters() -> dict[tuple[str, str], list[str]]:
    found = {}
    for text in rule_files(sql_root()).values():
        if signature := _SIGNATURE.search(text):
            kind, name, parameters = signature.groups()
            found[kind, name] = [word.strip() for word in parameters.split(",")]
    return found


class Rules(SmallTables):
    """Runs one rule over rows that tests fill in, without the rules beside it."""

    def fill(self, *tables: Rows) -> None:
        super().fill(*tables)
        self._made: set[str] = set()

    def found(self, rule: str) -> Rows:
        return self._rows("find", rule)

    def shared(self, name: str) -> Rows:
        return self._rows("shared", name)

    def _rows(self, kind: str, name: str) -> Rows:
        result = self.con.execute(f"FROM {self._call(kind, name)}")
        columns = [column[0] for column in result.description]
        return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]

    def _call(self, kind: str, name: str) -> str:
        given = _parameters()[kind, name]
        for relation in given:
            if relation != "only_jobs" and relation not in self._made:
                made = self._call("shared", relation)
                self.con.execute(f"CREATE OR REPLACE TEMP TABLE {relation} AS FROM {made}")
                self._made.add(relation)
        values = ["NULL" if name == "only_jobs" else name for name in given]
        return f"{kind}_{name}({', '.join(values)})"


class Job:
    """One rank, drawn as the host goes on. A launch takes 1 µs, and a kernel runs when its stream
    is free."""

    def __init__(self, device_name: str | None = H100) -> None:
        self.host_ops: Rows = []
        self.activities: Rows = []
        self.traces = [{"job": "j", "rank": 0, "status": "complete", "device_name": device_name}]
        self.now = 0
        self.free: dict[int, int] = {}
        self._step: int | None = None
        self._open: list[dict] = []

    def fill(self, tables: SmallTables, events: Rows = ()) -> None:
        self.traces[0] |= {"start_ns": 0, "end_ns": self.now, "host_op_count": len(self.host_ops)}
        tables.fill(self.activities, self.host_ops, list(events), self.traces)

    def host(self, name: str, dur_ns: int = US, cat: str = "python_function", **more) -> None:
        """A span on the host with nothing inside."""
        self.open(name, cat, **more)
        self.now += dur_ns
        self.close()

    def step(self, number: int) -> None:
        self._step = number
        self.open(f"ProfilerStep#{number}", "user_annotation")

    def wait(self) -> None:
        """The host waits for the device."""
        self.open("cudaDeviceSynchronize", "cuda_runtime")
        self.now = max(self.now, *self.free.values()) + US
        self.close()

    def open(self, name: str, cat: str = "cpu_op", **more) -> None:
        around = [row for row in self._open if row["cat"] == "cpu_op"]
        notes = [row for row in self._open if row["cat"] == "user_annotation"]
        row = {
            "event_id": len(self.host_ops) + 1,
            "cat": cat,
            "name": name,
            "start_ns": self.now,
            "step": self._step,
            "depth": len(self._open),
            "parent_id": self._open[-1]["event_id"] if self._open else None,
            "op_id": around[-1]["event_id"] if around else None,
            "annotation_id": notes[-1]["event_id"] if notes else None,
        } | more
        self.host_ops.append(row)
        self._open.append(row)

    def close(self) -> None:
        row = self._open.pop()
        row["end_ns"] = self.now
        row["dur_ns"] = self.now - row["start_ns"]

    def op(self, name: str, dims=None, types=BF16, *kernels, texts=None, inside=(), **more) -> None:
        """An operator that launches kernels (name, duration), inside of other operators."""
        for outer in inside:
            self.open(f"aten::{outer}", **more)
        if dims is not None:
            types = [types if sizes else "" for sizes in dims] if isinstance(types, str) else types
            values = [(texts or {}).get(at, "") for at in range(len(dims))]
            more = more | {
                "input_dims": json.dumps(dims),
                "input_types": json.dumps(types),
                "concrete_inputs": json.dumps(values),
            }
        self.open(f"aten::{name}", **more)
        for kernel, dur_ns in kernels:
            self.launch(kernel, dur_ns)
        self.close()
        for _ in inside:
            self.close()

    def launch(self, name: str, dur_ns: int, stream: int = 7, blocks: bool = False, **more) -> None:
        """A call of 1 µs that launches an activity. If it blocks, it returns after the activity."""
        self.open("cudaLaunchKernel", "cuda_runtime")
        launched_ns = self.now
        self.now += US
        start_ns = max(self.now, self.free.get(stream, 0))
        self.free[stream] = start_ns + dur_ns
        if blocks:
            self.now = self.free[stream]
        row = self._open[-1]
        self.close()
        self.activities.append(
            {
                "event_id": 1_000_000 + len(self.activities),
                "stream": stream,
                "name": name,
                "start_ns": start_ns,
                "end_ns": start_ns + dur_ns,
                "step": self._step,
                "op_id": row["op_id"],
                "annotation_id": row["annotation_id"],
                "launch_id": row["event_id"],
                "launch_name": row["name"],
                "launch_pid": "1",
                "launch_tid": "1",
                "launch_start_ns": launched_ns,
                "launch_end_ns": self.now,
            }
            | more
        )


def drawn_steps(job: Job, draw, count: int = 3) -> Job:
    """`count` equal steps, after a first step that no rule measures."""
    for number in range(count + 1):
        job.step(number)
        draw(job)
        job.wait()
        job.close()
    return job
