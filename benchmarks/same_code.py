"""A process that runs the code of one commit and answers, for same_answers.py."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

CHILD = Path(__file__).with_name("same_child.py")


class Failed(Exception):
    """What the process said when it ended, or that it took too long."""


class Code:
    """The hta_sql of a checkout, in a process of its own that stays for many questions."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout.resolve()
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Code":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.end()

    def ask(self, task: str, *, limit_s: float | None = None, **arguments: Any) -> Any:
        """The answer to a task of same_child.py; Failed if there is none within `limit_s`."""
        if self.process is None:
            self.start()
        assert self.process and self.process.stdin and self.process.stdout
        told = json.dumps({"task": task, "arguments": arguments})
        print(told, file=self.process.stdin, flush=True)
        if not select.select([self.process.stdout], [], [], limit_s)[0]:
            self.end()
            raise Failed(f"no answer in {limit_s:g} s")
        line = self.process.stdout.readline()
        if not line:
            self.end()
            raise Failed(f"{task} ended the process; what it said is on stderr")
        return json.loads(line)

    def start(self) -> None:
        paths = [str(self.checkout), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [sys.executable, str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )
        at = self.ask("where")
        if Path(at) != self.checkout:
            raise Failed(f"{self.checkout} was to be measured, but the hta_sql of {at} runs")

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
