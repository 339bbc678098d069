"""The command that reads traces into an archive."""

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

import hta_sql
from hta_sql.cli.limits import why_ended
from hta_sql.cli.options import with_engine
from hta_sql.cli.progress import Progress
from hta_sql.show.formats import format_of, write_table
from hta_sql.show.units import counted, humane

if TYPE_CHECKING:
    from hta_sql.ingestion.summary import IngestSummary
    from hta_sql.ingestion.tasks import Outcome

# With more files than this, files without an error get one line per job.
MOST_LINES = 50
WATCH_SECONDS = 10.0
# The ends of --watch that are no error: Ctrl-C and SIGTERM.
_STOPPED = (130, 143)


@click.command("ingest")
@click.argument("traces", nargs=-1, required=True, metavar="TRACES...")
@click.argument("archive")
@click.option("--job", metavar="NAME", help="Name of the job. [default: the folder's name]")
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="NAME=VALUE",
    help="Tag for these traces, such as their model, team or time; repeatable.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Traces to read at the same time. [default: one per core, or fewer for small traces]",
)
@click.option("--force", is_flag=True, help="Ingest all traces again, even unchanged ones.")
@click.option(
    "--steps",
    metavar="REGEX",
    help="Names of the annotations that are steps; a group is the step's number. [default: "
    "ProfilerStep#N, or what a known framework writes]",
)
@click.option(
    "--graph-capture",
    "graph_captures",
    multiple=True,
    metavar="FILE",
    help="Capture trace of the graphs that the traces replay; repeatable. Those in a folder "
    "capture_traces/ beside a trace are found.",
)
@click.option(
    "--rank",
    "ranks",
    multiple=True,
    metavar="N=FILE",
    help="Rank of a trace, if neither the file nor its name gives it; repeatable.",
)
@click.option(
    "--outcomes",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the outcome of each file to FILE: .parquet, .csv or .json.",
)
@click.option(
    "--watch",
    type=click.FloatRange(min=0, min_open=True),
    is_flag=False,
    flag_value=WATCH_SECONDS,
    metavar="[SECONDS]",
    help="Keep running, and look for new and changed files every SECONDS (10 if not given).",
)
@with_engine
def ingest(
    traces: tuple[str, ...],
    archive: str,
    job: str | None,
    tags: tuple[str, ...],
    workers: int | None,
    force: bool,
    steps: str | None,
    graph_captures: tuple[str, ...],
    ranks: tuple[str, ...],
    outcomes: Path | None,
    watch: float | None,
    engine: str,
    address: str | None,
) -> None:
    """Read traces into an archive, which queries then read.

    \b
    TRACES are any of these, on disk or in object storage (s3://bucket/folder):
      * trace files: .json or .json.gz
      * PyTorch execution traces, and raw memory timelines (.raw.json.gz),
        which are attached to the trace of their job and rank
      * folders or patterns
      * lists of traces: CSV or Parquet files with the columns path (relative
        to the list), job and rank; all other columns are tags

    ARCHIVE is a folder, or a URL such as s3://bucket/archive. Unchanged traces are skipped; only
    their tags are updated. A trace that cannot be read is reported and does not stop the others.

    With --watch, ingest runs until Ctrl-C or SIGTERM, and then exits with status 0. It looks at
    the files every SECONDS, and reads a file when its size and modification time have not changed
    since the last look.

    \b
    Example:
      hta-sql ingest traces/ archive
      hta-sql ingest traces/*.gz odd.gz archive --job llama-7b --rank 3=odd.gz
      hta-sql ingest jobs.csv archive --tag team=vision --outcomes outcomes.csv
      hta-sql ingest /profiles archive --watch
      hta-sql ingest s3://traces/nightly s3://archives/nightly
    """
    rank_files = _rank_files(ranks)
    tag_values = _tags(tags)
    if outcomes:
        format_of(outcomes, None)
        if not outcomes.absolute().parent.is_dir():
            raise click.BadParameter(f"{outcomes.parent}: no such folder", param_hint="--outcomes")
    if watch and force:
        raise click.UsageError("give either --force or --watch, not both")

    from hta_sql.ingestion.ingest import told_files

    talk = Talk(is_quiet=bool(watch))
    common = {
        "steps": steps,
        "engine": engine,
        "address": address,
        "report": talk.say,
        "planned": talk.planned,
        "finished": talk.finished,
        "progress": talk.progress,
    }
    if not watch:
        summary = hta_sql.ingest(
            traces,
            archive,
            job=job,
            tags=tag_values,
            workers=workers,
            force=force,
            graph_captures=graph_captures,
            ranks=rank_files,
            **common,
        )
        talk.summarize(summary)
        if outcomes:
            write_table(summary.table(), outcomes)
        if summary.failed:
            raise click.exceptions.Exit(1)
        return

    from hta_sql.ingestion.watch import keep_up

    newest: list[dict] = []

    def passed(summary: "IngestSummary") -> None:
        if outcomes:
            table = summary.table()
            paths = set(table["path"].to_pylist())
            newest[:] = [row for row in newest if row["path"] not in paths] + table.to_pylist()
            write_table(table.from_pylist(newest), outcomes)
        if any(outcome.status != "unchanged" for outcome in summary.outcomes):
            talk.summarize(summary)

    try:
        keep_up(
            traces,
            archive,
            seconds=watch,
            job=job,
            tags=tag_values,
            workers=workers,
            given=list(told_files(rank_files or {})),
            passed=passed,
            **common,
        )
    except KeyboardInterrupt:
        if (end := why_ended()) and end.status not in _STOPPED:
            raise
        talk.say("stopped")


class Talk:
    """Reports progress on stderr: one line per file, or per job if there are many files."""

    def __init__(self, is_quiet: bool = False) -> None:
        self.is_quiet = is_quiet  # no lines on unchanged files
        self._progress = Progress()
        self.began = time.monotonic()
        self.planned({})

    def say(self, line: str) -> None:
        self._progress.say(line)

    def planned(self, files: Mapping[str, int]) -> None:
        self.planned_at = time.monotonic()
        self.left = Counter(files)
        self.total = self.left.total()
        self.done = 0
        self.of_job: dict[str, list[Outcome]] = {job: [] for job in files}

    def finished(self, outcome: "Outcome") -> None:
        self.done += 1
        is_one_of_many = self.total > MOST_LINES
        is_nothing = self.is_quiet and outcome.status == "unchanged"
        if outcome.error or not (is_one_of_many or is_nothing):
            self.say(_outcome(outcome))
        if not is_one_of_many:
            return
        self.of_job[outcome.job].append(outcome)
        self.left[outcome.job] -= 1
        if not self.left[outcome.job]:
            outcomes = self.of_job.pop(outcome.job)
            if any(o.status not in ("unchanged", "failed") for o in outcomes):
                events = sum((o.row or {}).get("event_count", 0) for o in outcomes)
                self.say(f"{outcome.job}: {_statuses(outcomes)}; {events:,} events")

    def progress(self, done: int, total: int) -> None:
        full = "#" * (30 * done // max(total, 1))
        read = f"{humane('bytes', done)} of {humane('bytes', total)}"
        rate = self.done / max(time.monotonic() - self.planned_at, 0.1)
        files = f", {self.done:,} of {counted(self.total, 'file')}, {rate:.1f}/s"
        self._progress.show(f"[{full:-<30}] {read}{files}")

    def summarize(self, summary: "IngestSummary") -> None:
        kinds = Counter(_IN_WORDS.get(o.kind, o.kind.replace("_", " ")) for o in summary.outcomes)
        said = ", ".join(counted(count, kind) for kind, count in kinds.items())
        took = time.monotonic() - (self.planned_at if self.is_quiet else self.began)
        hands = f" with {summary.hands}" if summary.hands else ""
        self.say(f"{said}: {_statuses(summary.outcomes)}; {took:.1f} s{hands}")


_IN_WORDS = {"refresh": "rank"}


def _statuses(outcomes: "list[Outcome]") -> str:
    statuses = Counter(outcome.status for outcome in outcomes)
    return ", ".join(f"{count} {status}" for status, count in statuses.items())


def _outcome(outcome: "Outcome") -> str:
    if outcome.error:
        from hta_sql.ingestion.find import shown

        return f"{shown(outcome.path)}: failed: {outcome.error}"
    row = outcome.row
    rows = {
        "trace": lambda: f"{row['event_count']:,} events",
        "refresh": lambda: f"{row['event_count']:,} events",
        "execution_trace": lambda: f"execution trace, {row['row_count']:,} nodes",
        "memory_timeline": lambda: f"memory timeline, {row['row_count']:,} changes",
    }[outcome.kind]()
    lost = f", {row['quarantined_count']:,} quarantined" if row["quarantined_count"] else ""
    broken = "" if row["status"] == "complete" else f", {row['status']}"
    return (
        f"{outcome.job} rank {outcome.rank}: {outcome.status}, "
        f"{rows}{lost}{broken}, {outcome.seconds:.1f} s"
    )


def _rank_files(given: tuple[str, ...]) -> dict[int, list[str]] | None:
    """The files by rank. A rank may have a trace, an execution trace and a memory timeline."""
    ranks: dict[int, list[str]] = {}
    for item in given:
        number, is_pair, path = item.partition("=")
        if not (is_pair and path and number.isdecimal()):
            raise click.BadParameter(f"{item!r} is not N=FILE", param_hint="--rank")
        ranks.setdefault(int(number), []).append(path)
    return ranks or None


def _tags(given: tuple[str, ...]) -> dict[str, str]:
    tags = {}
    for item in given:
        name, _, value = (part.strip() for part in item.partition("="))
        if not (name and value):
            raise click.BadParameter(f"{item!r} is not NAME=VALUE", param_hint="--tag")
        tags[name] = value
    return tags
