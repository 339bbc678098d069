"""What ends a command early: Ctrl-C, signals, and the limits that its options set.

A signal raises KeyboardInterrupt in the main thread, so that every `finally` cleans up. DuckDB may
run there, deaf to Python: a second thread interrupts it until the main thread has the signal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from hta_sql.engines.machine import (
    MEMORY_LIMIT,
    SAFE_BYTES,
    SAFE_SECONDS,
    THREADS,
    bytes_of,
    limit_own_memory,
    memory_limit,
)
from hta_sql.errors import BadParameter

if TYPE_CHECKING:
    from hta_sql.database.session import Session

TIME_IS_UP = 124  # as of timeout(1)
# Their start is C++ that calls Python, and ends the process if that raises.
_LIBRARIES = ("duckdb", "pyarrow", "numpy")
# A single call of an SQL function cannot be interrupted. SQL of strangers ends with its process.
_HARD_SECONDS = 1.0


class End(NamedTuple):
    """Why a command ends early."""

    status: int
    line: str


INTERRUPTED = End(130, "Interrupted")
_ENDS: dict[int, End] = {
    signal.SIGINT: INTERRUPTED,
    signal.SIGTERM: End(128 + signal.SIGTERM, "Terminated"),
    signal.SIGHUP: End(128 + signal.SIGHUP, "Hung up"),
}

_end: End | None = None
_has_heard = threading.Event()
_clean_up: Callable[[], None] | None = None


def why_ended() -> End | None:
    """Why the command ends, if a signal or a limit ends it."""
    return _end


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """Handle the signals that end a command, inside a `with` block."""
    chosen = [number for number in _ENDS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _stop) for number in chosen}
    ear, mouth = os.pipe()
    os.set_blocking(mouth, False)
    signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    threading.Thread(target=_interrupt_duckdb, args=(ear,), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(mouth)


def end_with_process(session: Session) -> None:
    """Hold the limits of SQL of strangers, also where DuckDB does not: end with this process.

    A call such as repeat('x', 1e10) cannot be interrupted, and takes memory that DuckDB does not
    count.
    """
    global _clean_up
    _clean_up = session.clean_up
    if not seconds_left():
        start_timer(SAFE_SECONDS)
    limit_own_memory(memory_limit() or SAFE_BYTES)


def _stop(number: int, _: object) -> None:
    global _end
    _end = _end or _ENDS[number]
    if any(map(_is_loading, _LIBRARIES)):
        threading.Timer(0.02, os.kill, (os.getpid(), number)).start()
        return
    _has_heard.set()
    raise KeyboardInterrupt


def _is_loading(name: str) -> bool:
    return getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False)


def _interrupt_duckdb(ear: int) -> None:
    while number := os.read(ear, 1):
        # The shell and the server have handlers of their own.
        end = _ENDS.get(number[0]) if signal.getsignal(number[0]) is _stop else None
        began = time.monotonic()
        while end and not _has_heard.is_set():
            session = sys.modules.get("hta_sql.database.session")
            if session and not _is_loading(session.__name__):
                session.interrupt_all()
            if _clean_up and time.monotonic() - began > _HARD_SECONDS:
                _clean_up()
                click.echo(end.line, err=True)
                os._exit(end.status)
            time.sleep(0.02)
    os.close(ear)


def start_timer(seconds: float) -> None:
    """End the command after this time."""
    line = (
        f"Error: the time limit of {seconds:g} s is reached; give more with --timeout, or choose "
        "fewer jobs, ranks or steps"
    )
    _ENDS[signal.SIGALRM] = End(TIME_IS_UP, line)
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def seconds_left() -> float | None:
    """The time until the limit; None without a limit."""
    return signal.getitimer(signal.ITIMER_REAL)[0] or None


def _timeout(ctx: click.Context, option: click.Parameter, seconds: float | None) -> float | None:
    if seconds is not None:
        start_timer(seconds)
    return seconds


def _memory(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    if text is not None:
        try:
            bytes_of(text)
        except BadParameter as error:
            raise click.BadParameter(str(error), ctx, option) from None
        os.environ[MEMORY_LIMIT] = text
    return text


def _threads(ctx: click.Context, option: click.Parameter, count: int | None) -> int | None:
    if count is not None:
        os.environ[THREADS] = str(count)
    return count


def add_limits(command: click.Command) -> click.Command:
    """Add the options that limit a command, or all commands of a group."""
    if isinstance(command, click.Group):
        for below in command.commands.values():
            add_limits(below)
        return command
    command.params += [
        _option(
            "--timeout", _timeout, "SECONDS", "End after SECONDS.", type=click.FloatRange(0.01)
        ),
        _option("--memory-limit", _memory, "SIZE", "Memory that DuckDB may use, such as 4GB."),
        _option("--threads", _threads, "N", "Cores to use.", type=click.IntRange(min=1)),
    ]
    return command


def _option(flag: str, callback: Any, metavar: str, text: str, **rest: Any) -> click.Option:
    return click.Option(
        [flag], callback=callback, expose_value=False, metavar=metavar, help=text, **rest
    )
