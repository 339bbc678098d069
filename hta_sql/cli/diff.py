"""The command that compares two jobs, and can make a pipeline fail."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from hta_sql.catalogue.query import did_you_mean
from hta_sql.cli.options import list_option, with_output
from hta_sql.cli.progress import say
from hta_sql.cli.results import write_answer
from hta_sql.errors import BadParameter, HtaSqlError
from hta_sql.show.files import write_text
from hta_sql.show.formats import WIDE_TABLE, format_of

if TYPE_CHECKING:
    from hta_sql.comparison.comparison import Comparison
    from hta_sql.comparison.condition import Verdict

# An exit status in addition to those that all commands have.
_A_CONDITION_HOLDS = 3


def _choose_table(ctx: click.Context, option: click.Parameter, name: str | None) -> str | None:
    from hta_sql.comparison.comparison import queries_of_two

    if name is not None and name not in queries_of_two():
        raise click.BadParameter(
            f"{name!r} does not compare two jobs; {did_you_mean(name, queries_of_two())}"
            f"give one of {', '.join(queries_of_two())}"
        )
    return name


@click.command("diff")
@click.argument("base", metavar="BASE")
@click.argument("test", metavar="TEST")
@click.option(
    "--table",
    metavar="QUERY",
    callback=_choose_table,
    help="Print the result of this query instead, such as kernel_diff.",
)
@click.option(
    "--fail-if",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help="Exit with status 3 if this condition holds, such as 'step_time > 3%'; repeatable.",
)
@with_output
def diff(
    base: str,
    test: str,
    table: str | None,
    conditions: tuple[str, ...],
    format: str | None,
    output: Path | None,
    **selection: Any,
) -> None:
    """Compare two jobs: how step time changed, and why.

    BASE is the reference, and TEST is the job to check against it. Each is an archive, a job in an
    archive (ARCHIVE::JOB), or a folder or file of traces. Traces are ingested for this comparison
    only. BASE and TEST may be the same job if you choose different ranks or steps.

    \b
    A condition of --fail-if is METRIC > LIMIT or METRIC < LIMIT:
      * For times of a step, METRIC is step_time, gpu_span, gpu_busy, idle,
        compute, communication, exposed_communication, memory, exposed_memory
        or kernel_sum, as in step_diff. LIMIT is the difference of TEST from
        BASE, in %, ns, us, ms or s.
      * For times of single calls, METRIC is kernel_time, transfer, host_time
        or data_loading, which are causes in diff_causes. LIMIT is a
        difference in time per call, in %. The condition holds if
        diff_causes has a row with this metric as its cause and a difference
        beyond LIMIT.

    A condition holds only if the difference is beyond noise. The noise is how much the steps within
    one job vary. Two runs of the same program can differ by more than this noise. To compare a run
    with many earlier runs, use the query regressions.

    \b
    Exit status:
      0  no condition holds
      1  an error, or a condition cannot be decided: the jobs cannot be
         compared, the metric is missing, or the noise is unknown
      2  wrong usage
      3  a condition holds

    Without --table, the format json has the results of all queries that compare two jobs, except
    op_alignment. The other formats have the result of diff_causes. With --table, each format has
    the result of that query.

    \b
    Example:
      hta-sql diff nightly::monday nightly::tuesday
      hta-sql diff traces/before traces/after --fail-if "step_time > 3%"
      hta-sql diff archive archive --base-ranks 0 --test-ranks 3
    """
    from hta_sql.comparison.compare import compare
    from hta_sql.comparison.comparison import report_lines
    from hta_sql.comparison.condition import Condition

    try:
        asked = [Condition.read(text) for text in conditions]
    except BadParameter as error:
        raise click.BadParameter(str(error), param_hint="--fail-if") from None
    form = format_of(output, format)
    with compare(base, test, report=say, **selection) as found:
        verdicts = [found.judge(condition) for condition in asked]
        if table is None and form in ("table", WIDE_TABLE):
            _write("\n".join(report_lines(found)) + "\n", output)
        elif table is None and form == "json":
            _write(_as_json(found, verdicts), output)
        else:
            write_answer(found.archive, *found.call(table or "diff_causes"), form, output)
        _exit(found, verdicts)


def _write(text: str, output: Path | None) -> None:
    if output:
        write_text(output, text)
    else:
        sys.stdout.write(text)


def _as_json(found: "Comparison", verdicts: "list[Verdict]") -> str:
    from hta_sql.comparison.comparison import queries_of_two

    # op_alignment has a row per operator call of one step: another question, and a long table.
    names = [name for name in queries_of_two() if name not in ("diff_causes", "op_alignment")]
    return orjson.dumps(
        {
            "headline": found.headline,
            "is_comparable": not found.reasons["prevents"],
            "reasons": found.reasons,
            "conditions": [vars(verdict) for verdict in verdicts],
            "diff_causes": found.causes,
            **{name: found.archive.rows_of(*found.call(name)).to_pylist() for name in names},
        },
        option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE,
    ).decode()


def _exit(found: "Comparison", verdicts: "list[Verdict]") -> None:
    """Print which conditions hold, and end with the exit status that a pipeline checks."""
    for verdict in verdicts:
        said = {True: "holds", False: "does not hold", None: "cannot be decided"}[verdict.holds]
        say(f"--fail-if '{verdict.condition}' {said}: {verdict.text}")
    if verdicts and found.reasons["prevents"]:
        raise HtaSqlError(
            f"the jobs cannot be compared, so no condition counts: {found.reasons['prevents'][0]}"
        )
    if any(verdict.holds for verdict in verdicts):
        raise click.exceptions.Exit(_A_CONDITION_HOLDS)
    if any(verdict.holds is None for verdict in verdicts):
        raise click.exceptions.Exit(1)


diff.params += [
    list_option(
        f"--{side}-{what}",
        click.INT,
        f"{what.capitalize()} of {side.upper()} to compare. [default: all]",
    )
    for side in ("base", "test")
    for what in ("ranks", "steps")
]
