"""Whether every query answers as before, and how fast: on real traces and made-up jobs.

    python benchmarks/same_answers.py commits OLD NEW              # all of it, between two commits

    python benchmarks/same_answers.py record OUT [--code CHECKOUT] [--archives OTHER_OUT]
    python benchmarks/same_answers.py compare OUT_BEFORE OUT_AFTER
    python benchmarks/same_answers.py time CHECKOUT_BEFORE CHECKOUT_AFTER OUT

`record` makes archives in OUT with the code of a checkout, or reads those of another recording,
and keeps what every version of every query answers: as it is, with each of its parameters, for
pairs of jobs. `compare` tells each difference. `time` calls queries with both codes in turns.
"""

import argparse
import fcntl
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import same_compare
import same_times
from same_archives import ARCHIVES, OF_REAL_TRACES, TRACES
from same_code import Code, Failed

ROOT = Path(__file__).resolve().parents[1]


def record(
    out: Path,
    checkout: Path,
    archives: Path | None = None,
    only: str = "",
    with_each_job: bool = False,
    limit_s: float = 60,
) -> None:
    """Ask the code of a checkout everything, of its own archives or of others."""
    begin = time.monotonic()
    answers = out / "answers"
    out.mkdir(parents=True, exist_ok=True)
    with Code(checkout) as code, (out / "answers.jsonl").open("a") as index:
        alone_with(index, out)
        index.truncate(0)
        shutil.rmtree(answers, ignore_errors=True)
        answers.mkdir()
        for name in ARCHIVES:
            if name in OF_REAL_TRACES and not archives and not TRACES.is_dir():
                say(f"{name}: left out, as there is no {TRACES}")
                continue
            if archives:
                archive = str(archives / name)
                if not Path(archive).is_dir():
                    continue
            else:
                archive = code.ask("make", name=name, folder=str(out))
                say(f"{name} is made", begin)
            asked = code.ask("calls", archive=archive, with_each_job=with_each_job)
            for number, call in enumerate(asked):
                call["archive"] = name
                if only not in same_compare.title(call):
                    continue
                file = answers / f"{name}-{number}.parquet"
                try:
                    said = code.ask(
                        "answer", archive=archive, call=call, file=str(file), limit_s=limit_s
                    )
                except Failed as error:
                    said = {"error": str(error)}
                    say(f"{same_compare.title(call)}: {error}")
                said |= {} if "error" in said else {"file": f"answers/{file.name}"}
                print(json.dumps(call | said), file=index, flush=True)
            say(f"{name} has answered {len(asked):,} calls", begin)


def alone_with(index: IO[str], out: Path) -> None:
    """Nobody else may record into the folder meanwhile."""
    try:
        fcntl.flock(index, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SystemExit(f"another process records into {out}") from None


def commits(options: argparse.Namespace) -> int:
    """Record and compare two commits, and time them."""
    with checked_out(options.old) as old, checked_out(options.new) as new:
        outs = options.out / "before", options.out / "after"
        record(outs[0], old, None, options.only, options.each_job)
        archives = None if options.own_archives else outs[0]
        record(outs[1], new, archives, options.only, options.each_job)
        differing = same_compare.report(*outs, options.only)
        slower = 0
        if not options.no_times:
            slower = same_times.report(old, new, outs[0], options.rounds, options.only)
    return 1 if differing or slower else 0


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A checkout of a commit, or the folder itself where a folder is given."""
    if Path(commit).is_dir():
        yield Path(commit)
        return
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder, "checkout")
        subprocess.run(
            ["git", "-C", ROOT, "worktree", "add", "--detach", checkout, commit], check=True
        )
        try:
            yield checkout
        finally:
            subprocess.run(
                ["git", "-C", ROOT, "worktree", "remove", "--force", checkout], check=True
            )


def say(line: str, begin: float | None = None) -> None:
    after = "" if begin is None else f" after {time.monotonic() - begin:.0f} s"
    print(f"{line}{after}", file=sys.stderr, flush=True)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    only = argparse.ArgumentParser(add_help=False)
    only.add_argument("--only", default="", metavar="TEXT", help="calls with this in their names")
    jobs = argparse.ArgumentParser(add_help=False)
    jobs.add_argument("--each-job", action="store_true", help="ask for each job alone, too")
    rounds = argparse.ArgumentParser(add_help=False)
    rounds.add_argument("--rounds", type=int, default=same_times.ROUNDS, help="best of so many")

    command = commands.add_parser("record", parents=[only, jobs])
    command.add_argument("out", type=Path)
    command.add_argument("--code", type=Path, default=ROOT, metavar="CHECKOUT")
    command.add_argument("--archives", type=Path, metavar="OUT", help="of another recording")
    command.add_argument("--limit", type=float, default=60, metavar="S", help="of a call")

    command = commands.add_parser("compare", parents=[only])
    command.add_argument("before", type=Path)
    command.add_argument("after", type=Path)

    command = commands.add_parser("time", parents=[only, rounds])
    command.add_argument("before", type=Path, metavar="CHECKOUT_BEFORE")
    command.add_argument("after", type=Path, metavar="CHECKOUT_AFTER")
    command.add_argument("archives", type=Path, metavar="OUT")

    command = commands.add_parser("commits", parents=[only, jobs, rounds])
    command.add_argument("old", help="a commit, or a checkout")
    command.add_argument("new")
    command.add_argument("--own-archives", action="store_true", help="the new code makes its own")
    command.add_argument("--no-times", action="store_true")
    command.add_argument("--out", type=Path, default=ROOT / "bench-data" / "same-answers")
    return parser.parse_args()


def main() -> int:
    options = parsed()
    if options.command == "record":
        record(
            options.out,
            options.code,
            options.archives,
            options.only,
            options.each_job,
            options.limit,
        )
        return 0
    if options.command == "compare":
        return 1 if same_compare.report(options.before, options.after, options.only) else 0
    if options.command == "time":
        slower = same_times.report(
            options.before, options.after, options.archives, options.rounds, options.only
        )
        return 1 if slower else 0
    return commits(options)


if __name__ == "__main__":
    sys.exit(main())
