"""The job that a report is about, and how its sections query the archive."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.layers import literal
from hta_sql.database.selection import unknown
from hta_sql.errors import BadParameter, HtaSqlError

if TYPE_CHECKING:
    import pyarrow as pa

    from hta_sql.archive import Archive

# Most ranks that are shown one by one.
SHOWN_RANKS = 8
_KEPT_ROWS = 10_000


@dataclass(frozen=True)
class Answer:
    """A table, and the SQL and the command that give it."""

    table: pa.Table
    sql: str
    command: str

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        return self.table.to_pylist()

    def __bool__(self) -> bool:
        return self.table.num_rows > 0


@dataclass(frozen=True)
class JobPath:
    """The window of a job's critical path, such as "step 3"; None without a path.

    `command` computes it if the archive does not have it; then the report took `seconds` for it.
    `problem` says why there is none.
    """

    window: str | None = None
    command: str = ""
    seconds: float = 0.0
    problem: str = ""

    @property
    def step(self) -> int | None:
        """The step of the window; None for an annotation or a whole trace."""
        kind, _, number = (self.window or "").partition(" ")
        return int(number) if kind == "step" and number.isdecimal() else None

    def commands(self, answer: Answer) -> Answer:
        """The answer, with the command that stores the path in the archive before its own."""
        return replace(answer, command="\n".join(filter(None, (self.command, answer.command))))


def chosen_jobs(run: Archive, job: str | None, base: str | None) -> tuple[str, str | None]:
    """The job of a report, and the job to compare it with.

    Raises BadParameter if the archive does not have one that is named. Raises HtaSqlError if the
    archive has more than two jobs and none is chosen.
    """
    jobs = run.sql("SELECT DISTINCT job FROM traces ORDER BY job")["job"].to_pylist()
    some = ", ".join(jobs[:10]) + (", …" if len(jobs) > 10 else "")
    for named in filter(None, (job, base)):
        if named not in jobs:
            raise BadParameter(unknown("the archive", "job", [named], jobs))
    if not jobs:
        raise HtaSqlError("the archive has no traces; add some with hta-sql ingest")
    if job is None:
        if len(jobs) > 2:
            raise HtaSqlError(
                f"the archive has {len(jobs)} jobs ({some}); choose one with "
                "--job, or two to compare them"
            )
        # The same default as in queries that compare two jobs: the first by name is the base.
        job, base = jobs[-1], base or (jobs[0] if len(jobs) > 1 else None)
    return job, base if base != job else None


@dataclass
class Subject:
    """A job of an archive, the job to compare it with, and the step to show besides others.

    `path` says where the critical path of the job is.
    """

    run: Archive
    job: str
    base: str | None
    step: int | None
    ranks: list[int]
    path: JobPath = JobPath()
    queries: set[str] = field(default_factory=set)  # names of those used so far
    known: dict[str, Answer] = field(default_factory=dict)  # small answers, by their SQL

    @staticmethod
    def of(run: Archive, job: str, base: str | None, step: int | None) -> Subject:
        """The subject of a report on one of the archive's jobs.

        Raises HtaSqlError if the job does not have the step.
        """
        with run.narrowed([job]):  # so that damaged files of other jobs do not matter
            ranks = run.sql("SELECT DISTINCT rank FROM traces ORDER BY rank")["rank"].to_pylist()
            steps = run.sql(
                "SELECT step FROM steps UNION SELECT step FROM gpu_activities "
                "WHERE step IS NOT NULL ORDER BY step"
            )["step"].to_pylist()
        if step is not None and step not in steps:
            there = "its traces have no steps"
            if steps:
                several = len(steps) > 1
                there = f"it has {f'steps {steps[0]} to' if several else 'only step'} {steps[-1]}"
            raise HtaSqlError(f"job {job!r} has no step {step}; {there}")
        return Subject(run, job, base, step, ranks)

    def ask(self, query: str, /, **parameters: Any) -> Answer:
        """A query's answer for this job."""
        found = Catalog.load().find(query)
        if "only_jobs" in {p.name for p in found.parameters}:
            parameters = {"only_jobs": [self.job]} | parameters
        given = {name: value for name, value in parameters.items() if value is not None}
        words = self.words(f"run {query}", **given)
        self.queries.add(query)
        arguments = ", ".join(f"{name} := {literal(value)}" for name, value in given.items())
        sql = f"FROM {query}({arguments})"
        return self._answer(sql, words, lambda: self.run.rows_of(found, given))

    def words(self, command: str, /, **options: Any) -> list[str]:
        """A command on the archives, such as "run kernel_stats", as words for a shell."""
        words = ["hta-sql", *command.split(), *self.archives]
        for name, value in options.items():
            words += _option(name, value)
        return words

    def sql(self, sql: str, *queries: str) -> Answer:
        """The answer to any SQL, which uses `queries`. `{job}` in it stands for the job's name."""
        text = sql.replace("{job}", literal(self.job))
        self.queries.update(queries)
        words = ["hta-sql", "sql", *self.archives, text]
        return self._answer(text, words, lambda: self.run.sql(text))

    def _answer(self, sql: str, words: list[str], rows: Callable[[], pa.Table]) -> Answer:
        """The answer to `sql`. A small one is kept for other sections."""
        if sql not in self.known:
            answer = Answer(rows(), sql, shlex.join(words))
            if answer.table.num_rows > _KEPT_ROWS:
                return answer
            self.known[sql] = answer
        return self.known[sql]

    @cached_property
    def before(self) -> Subject:
        """The base as a subject, with the same step if it has it. Only if there is a base."""
        found = Subject.of(self.run, self.base, None, None)
        has_step = self.step in {row["step"] for row in found.ask("profiler_steps").rows}
        return replace(found, queries=self.queries, step=self.step if has_step else None)

    @property
    def archives(self) -> list[str]:
        return [str(root) for root in self.run.session.roots]

    @cached_property
    def shown_ranks(self) -> list[int]:
        """All ranks, or eight of them: the one that bounds the job, up to three stragglers, and
        others at even distances.
        """
        if len(self.ranks) <= SHOWN_RANKS:
            return self.ranks
        late = [row["rank"] for row in self.ask("stragglers").rows if row["is_straggler"]]
        last = len(self.ranks) - 1
        spread = [
            self.ranks[round(place * last / (SHOWN_RANKS - 1))] for place in range(SHOWN_RANKS)
        ]
        first = [self.one_rank, *late][: SHOWN_RANKS // 2]
        return sorted(list(dict.fromkeys([*first, *spread]))[:SHOWN_RANKS])

    @cached_property
    def one_rank(self) -> int:
        """The rank for figures that show only one: the one that bounds the job, or the first."""
        [facts] = self.sql("FROM job_splits([{job}])").rows
        return self.ranks[0] if facts["rank"] is None else facts["rank"]

    @property
    def says_ranks(self) -> str:
        """Names shown_ranks in a caption. Empty if these are all ranks."""
        if self.shown_ranks == self.ranks:
            return ""
        return f"Ranks {', '.join(map(str, self.shown_ranks))} of {len(self.ranks)}."


def _option(name: str, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag[2:]}"]
    if isinstance(value, list):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(value)
        return [flag, line.getvalue().removesuffix("\n")]
    return [flag, str(value)]
