"""A rank of a made-up job with faults, read from the text of its trace."""

from made_jobs.traces import load, of

MS = 1_000_000
HEALTHY = {"straggler": None, "steps": 3}


class Trace:
    """The events of a rank: `ops`, `calls`, `activities`, `kernels`, `python`, `steps`."""

    def __init__(self, text: str):
        _, self.events = load(text)
        self.ops = of(self.events, "cpu_op")
        self.calls = of(self.events, "cuda_runtime", "cuda_driver")
        self.kernels = of(self.events, "kernel")
        self.activities = [event for event in self.events if "kind" in event]
        self.python = of(self.events, "python_function")
        notes = of(self.events, "user_annotation")
        self.steps = [note for note in notes if note["name"].startswith("ProfilerStep#")]
        self._ops = {op["args"]["External id"]: op for op in self.ops}
        self._calls = {call["args"]["correlation"]: call for call in self.calls}

    def named(self, name: str) -> list[dict]:
        """Operators, annotations, Python functions and calls with this name."""
        return [event for event in self.events if event["name"] == name and "end" in event]

    def launch(self, activity: dict) -> dict:
        """The call that launched an activity."""
        return self._calls[activity["args"]["correlation"]]

    def op(self, activity: dict) -> dict:
        """The operator that launched an activity."""
        return self._ops[activity["args"]["External id"]]

    def kernels_of(self, name: str) -> list[dict]:
        """The kernels that operators of this name launched."""
        return [kernel for kernel in self.kernels if self.op(kernel)["name"] == name]

    def inside(self, outer: dict, events: list[dict]) -> list[dict]:
        """The events that are within another one on its thread."""
        return [
            event
            for event in events
            if event["tid"] == outer["tid"]
            and outer["start"] < event["start"]
            and event["end"] < outer["end"]
        ]

    def busy_ns(self, start: int, end: int) -> int:
        """How long the device is busy between two times."""
        total, reached = 0, start
        for activity in sorted(self.activities, key=lambda a: a["start"]):
            from_ns, to_ns = max(activity["start"], reached), min(activity["end"], end)
            total += max(0, to_ns - from_ns)
            reached = max(reached, to_ns)
        return total

    def step_ns(self) -> float:
        """The mean step from the second one on."""
        steady = self.steps[1:]
        return sum(map(dur, steady)) / len(steady)


def dur(event: dict) -> int:
    return event["end"] - event["start"]
