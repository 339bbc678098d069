"""What bounds a step, and what it would save if something were faster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.database.layers import literal
from hta_sql.diagnosis.words import percent
from hta_sql.report.parts import Chart, Part, Table, Text
from hta_sql.report.shares import says_shares
from hta_sql.show.units import humane

if TYPE_CHECKING:
    from hta_sql.report.subject import Answer, Subject

TITLE = "Critical path and what-if"
LINK = "Critical path"
PLACE = 9
IS_OPEN = True
# The categories of the path, in words.
_BOUNDS = {
    "cpu_bound": "the host",
    "data_loading": "data loading",
    "gpu_compute_bound": "GPU computation",
    "gpu_communication_bound": "communication",
    "gpu_kernel_launch_overhead": "launch delays",
    "gpu_kernel_kernel_overhead": "gaps between kernels",
}
# A path that is shorter leaves a part of its window to explain.
_MOST_OF_WINDOW = 0.9


def parts(subject: Subject) -> Iterator[Part]:
    path = subject.path
    if path.window is None:
        yield Text([path.problem])
        return
    window = {"only_windows": [path.window]}
    yield Text([_how(subject)])
    if answers := _what_if(subject):
        what = "step" if path.step is not None else "window"
        yield Table(
            f"What if: time that the {what} would save if something were faster. Gains do not add "
            f"up. Now the {what} takes {humane('t_ns', answers.rows[0]['step_ns'])}: on the host, "
            "or on the GPU if that is longer",
            path.commands(answers),
            ["what_if", "gain_ns", "gain_frac", "new_step_ns"],
            most=30,
            heads={
                "what_if": "if",
                "gain_ns": "time saved",
                "gain_frac": "time saved, %",
                "new_step_ns": f"then the {what} takes",
            },
        )
    shares = subject.ask("critical_path_summary", **window)
    if not shares:
        return
    if len({row["rank"] for row in shares.rows}) == 1:
        named = [(_BOUNDS[row["bound_by"]], row["time_ns"]) for row in shares.rows]
        yield Text([says_shares("The critical path", named), *_rest(subject, shares, answers)])
    else:
        yield Chart(
            "What bounds the critical path of each rank, in % of the path's time.",
            path.commands(shares),
            plot.critical_path_summary.drawing(shares.table),
        )
    ranks = {row["rank"] for row in shares.rows}
    rank = subject.one_rank if subject.one_rank in ranks else min(ranks)
    yield Table(
        f"Operators with the most time on the critical path of rank {rank}. Without an operator, "
        "the time belongs to a call, or to the call that launched the GPU activity",
        path.commands(_operators(subject, rank)),
        most=30,
        heads={
            "time_ns": "time on the path",
            "time_frac": "of the path, %",
            "host_ns": "host",
            "gpu_ns": "GPU",
            "delay_ns": "delays",
        },
    )


def _rest(subject: Subject, shares: Answer, times: Answer) -> Iterator[str]:
    """What the path of a rank is a part of, if it is much shorter than its window."""
    length = sum(row["time_ns"] for row in shares.rows)
    for row in times.rows[:1]:
        if length < _MOST_OF_WINDOW * row["step_ns"]:
            step = subject.path.step
            yield (
                f"That is {percent(length / row['step_ns'])} of the "
                f"{humane('t_ns', row['step_ns'])} of "
                f"{'the trace' if step is None else f'step {step}'}. In the rest, the trace shows "
                "no work that the end of the path depends on."
            )


def _how(subject: Subject) -> str:
    """Where the path comes from."""
    path = subject.path
    named = "the whole trace" if path.window == "trace" else path.window
    if not path.command:
        return f"The critical path of {named}, as the archive has it."
    typical = ", a typical step" if subject.step is None and path.step is not None else ""
    return (
        f"The critical path of {named}{typical}. The report computed it in {path.seconds:.1f} s; "
        f"the archive does not keep it. {subject.says_ranks}"
    ).strip()


def _what_if(subject: Subject) -> Answer:
    window = literal([subject.path.window])
    return subject.sql(
        f"""\
SELECT
    CASE
        WHEN scenario = 'faster'
        THEN
            replace(subject, 'cpu_bound', 'the host') || ' is ' || format('{{:g}}', factor)
            || ' times as fast'
        WHEN scenario = 'rank_as_median' THEN subject || ' is as fast as the median rank'
        WHEN scenario = 'data_loading_gone' THEN 'data loading takes no time'
        WHEN scenario = 'communication_hidden' THEN 'communication is hidden'
        WHEN scenario = 'communication_at_median' THEN 'no collective is slower than its median'
        WHEN scenario = 'launch_overhead_gone' THEN 'launches take no time'
        ELSE scenario
    END AS what_if,
    gain_ns,
    gain_frac,
    step_ns,
    new_step_ns
FROM what_if(only_jobs := [{{job}}], only_windows := {window})
ORDER BY gain_ns DESC, what_if""",
        "what_if",
    )


def _operators(subject: Subject, rank: int) -> Answer:
    """The rows of critical_path_ops, with the calls in place of the row without an operator.

    Of a graph replay without a capture trace, the graph launch is all that is known.
    """
    return subject.sql(
        f"""\
WITH
owners AS (
    SELECT
        *,
        CASE
            WHEN operator IS NOT NULL THEN operator
            WHEN call LIKE '%GraphLaunch%' THEN 'no operator, graph launch: ' || call
            WHEN call IS NOT NULL THEN 'no operator: ' || call
            ELSE 'no operator: the launch is not in the trace'
        END AS owner
    FROM path_owners([{{job}}], [{rank}], {literal([subject.path.window])})
)
SELECT
    o.owner AS operator,
    sum(o.time_ns)::BIGINT AS time_ns,
    sum(o.time_ns) / nullif(sum(sum(o.time_ns)) OVER (), 0) AS time_frac,
    sum(o.host_ns)::BIGINT AS host_ns,
    sum(o.gpu_ns)::BIGINT AS gpu_ns,
    sum(o.delay_ns)::BIGINT AS delay_ns
FROM owners AS o
GROUP BY o.owner
ORDER BY time_ns DESC, operator"""
    )
