"""A process that answers, so that no question can harm the server.

DuckDB holds most limits of time and memory, but not within a single call of a function. If an
answer does not come in time, the process is killed, and the next question gets a new one.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from hta_sql.engines.machine import bytes_of, limit_own_memory
from hta_sql.engines.processes import callers_script_hidden, signals_held
from hta_sql.errors import HtaSqlError

# How much longer than its limit an answer may take before its process is killed.
GRACE_SECONDS = 2.0
OPEN_SECONDS = 300.0


@dataclass(frozen=True)
class Limits:
    """The limits of one answer: its time, DuckDB's memory, and the rows that are read."""

    seconds: float
    memory: str
    rows: int


class Worker:
    """Asks the process, one question at a time; any thread may ask."""

    def __init__(self, archives: Sequence[str], limits: Limits) -> None:
        self._archives, self._limits = list(archives), limits
        self._lock = threading.Lock()
        self._process: Any = None
        self._questions: Connection | None = None

    def ask(self, tool: str, **arguments: Any) -> Any:
        """What the tool answers; HtaSqlError if it refuses, or does not answer in time."""
        with self._lock:
            self._start()
            return self._answer((tool, arguments), self._limits.seconds + GRACE_SECONDS)

    def start(self) -> None:
        """Open the archives; HtaSqlError if that fails."""
        with self._lock:
            self._start()

    def close(self) -> None:
        """End the process at once. Does not wait for a question that is being answered."""
        if self._process:
            self._process.kill()
            self._process.join()
            self._questions.close()
        self._process = self._questions = None

    def _start(self) -> None:
        if self._process and self._process.is_alive():
            return
        self.close()
        context = multiprocessing.get_context("spawn")
        self._questions, answers = context.Pipe()
        self._process = context.Process(
            target=answer_questions, args=(answers, self._archives, self._limits), daemon=True
        )
        with callers_script_hidden(), signals_held():
            self._process.start()
        answers.close()
        self._answer(None, OPEN_SECONDS)

    def _answer(self, question: tuple[str, dict[str, Any]] | None, seconds: float) -> Any:
        """The answer to a question, or to the opening of the archives."""
        process, questions = self._process, self._questions
        with contextlib.suppress(OSError):  # it died: recv says so
            if question:
                questions.send(question)
        try:
            if not questions.poll(seconds):
                self.close()
                raise HtaSqlError(
                    f"no answer in {self._limits.seconds:g} s, the time limit; ask for fewer jobs, "
                    "ranks or steps"
                )
            is_good, answer = questions.recv()
        except (EOFError, OSError):
            process.join(GRACE_SECONDS)
            self.close()
            raise HtaSqlError(
                f"the question took more memory than {self._limits.memory}, or crashed; ask for "
                "less"
            ) from None
        if not is_good:
            raise HtaSqlError(answer)
        return answer


def answer_questions(questions: Connection, archives: list[str], limits: Limits) -> None:
    """Answer questions until the server ends. This runs in the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGHUP])
    os.dup2(2, 1)  # stdout belongs to the protocol
    threading.Thread(target=end_with_server, daemon=True).start()
    import hta_sql
    from hta_sql.mcp.tools import Tools

    warnings.simplefilter("ignore")
    try:
        archive = hta_sql.open(
            *archives, safe=True, timeout=limits.seconds, memory_limit=limits.memory
        )
        tools = Tools(archive, limits.rows)
    except HtaSqlError as error:
        questions.send((False, str(error)))
        return
    limit_own_memory(bytes_of(limits.memory))
    questions.send((True, None))
    while True:
        try:
            tool, arguments = questions.recv()
        except EOFError:
            archive.close()
            return
        try:
            answer = True, tools.call(tool, arguments)
        except HtaSqlError as error:
            answer = False, str(error)
        except MemoryError:
            answer = False, "the memory limit is reached; ask for less"
        except Exception as error:  # our own bug: the server lives on, and stderr has it
            sys.excepthook(*sys.exc_info())
            answer = False, f"{type(error).__name__} in {tool}"
        questions.send(answer)


def end_with_server() -> None:
    wait([multiprocessing.parent_process().sentinel])
    os._exit(1)
