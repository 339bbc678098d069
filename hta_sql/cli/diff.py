"""The command that compares two jobs and fails a pipeline where it must."""

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from hta_sql.cli.options import list_option, with_output
from hta_sql.cli.results import write_result
from hta_sql.errors import BadParameter, HtaSqlError
from hta_sql.show.formats import format_of

if TYPE_CHECKING:
    from hta_sql.comparison.comparison import Comparison
    from hta_sql.comparison.condition import Verdict

# Exit statuses beside those of all commands.
_A_CONDITION_HOLDS = 3


def _choose_table(ctx: click.Context, option: click.Parameter, name: str | None) -> str | None:
    from hta_sql.comparison.comparison import queries_of_two

    if name is not None and name not in queries_of_two():
        raise click.BadParameter(f"{name!r} is none of {', '.join(queries_of_two())}")
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
    help="Exit with 3 where this holds beyond noise, such as 'step_time > 3%'; repeatable.",
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
    """Compare two jobs: by how much a step got longer, what changed first, and the tables.

    BASE is what was before, TEST what is asked about: an archive, a job of one (ARCHIVE::JOB), or
    a folder or file of traces, which are ingested for this once. With ranks or steps chosen, both
    may be the same job.

    A condition is METRIC > LIMIT or METRIC < LIMIT. METRIC is a name in step_diff: step_time,
    gpu_span, gpu_busy, idle, compute, exposed_communication, exposed_memory, communication, memory
    or kernel_sum; LIMIT is by how much it differs, in %, ns, us, ms or s. It is also kernel_time,
    transfer, host_time or data_loading, for the call of any single one that diff_causes names.
    A condition holds only where the difference is beyond noise.

    Noise is that of the steps within each run; what differs from run to run by chance, only many
    runs tell: see regressions.

    \b
    Exit status: 0 no condition holds; 3 one does; 1 it cannot be told, as the two cannot be
    compared or nothing is known of noise; 2 wrong usage.

    --format json has all tables; csv, parquet and arrow one, diff_causes unless told.

    \b
    Example:
      hta-sql diff nightly::monday nightly::tuesday
      hta-sql diff traces/before traces/after --fail-if "step_time > 3%"
      hta-sql diff archive archive --base-ranks 0 --test-ranks 3 --table kernel_diff
    """
    from hta_sql.comparison.compare import compare
    from hta_sql.comparison.comparison import report_lines
    from hta_sql.comparison.condition import Condition

    try:
        asked = [Condition.read(text) for text in conditions]
    except BadParameter as error:
        raise click.BadParameter(str(error), param_hint="--fail-if") from None
    form = format_of(output, format)
    # A pipeline that is cancelled leaves no folders behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with compare(base, test, report=lambda line: click.echo(line, err=True), **selection) as found:
        verdicts = [found.judge(condition) for condition in asked]
        if table is None and form == "table":
            _write("\n".join(report_lines(found)) + "\n", output)
        elif table is None and form == "json":
            _write(_as_json(found, verdicts), output)
        else:
            query, sides = found.call(table or "diff_causes")
            relation = found.archive.relation_of(query, sides)
            write_result(found.archive, relation, form, output)
        _exit(found, verdicts)


def _write(text: str, output: Path | None) -> None:
    if output:
        output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


def _as_json(found: "Comparison", verdicts: "list[Verdict]") -> str:
    from hta_sql.comparison.comparison import queries_of_two

    # op by op is another question, of one step.
    names = [name for name in queries_of_two() if name not in ("diff_causes", "op_alignment")]
    return orjson.dumps(
        {
            "headline": found.headline,
            "is_comparable": not found.reasons["prevents"],
            "reasons": found.reasons,
            "conditions": [vars(verdict) for verdict in verdicts],
            "diff_causes": found.causes,
            **{name: found.table(name).to_pylist() for name in names},
        },
        option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE,
    ).decode()


def _exit(found: "Comparison", verdicts: "list[Verdict]") -> None:
    """Say which conditions hold, and end with the status that a pipeline looks at."""
    for verdict in verdicts:
        said = {True: "holds", False: "does not hold", None: "cannot be told"}[verdict.holds]
        click.echo(f"--fail-if '{verdict.condition}' {said}: {verdict.text}", err=True)
    if verdicts and found.reasons["prevents"]:
        raise HtaSqlError(f"not comparable, so no condition counts: {found.reasons['prevents'][0]}")
    if any(verdict.holds for verdict in verdicts):
        raise click.exceptions.Exit(_A_CONDITION_HOLDS)
    if any(verdict.holds is None for verdict in verdicts):
        raise click.exceptions.Exit(1)


diff.params += [
    list_option(
        f"--{side}-{what}", click.INT, f"{what.capitalize()} of {side.upper()}. [default: all]"
    )
    for side in ("base", "test")
    for what in ("ranks", "steps")
]
