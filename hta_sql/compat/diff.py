"""HTA's classes TraceDiff and LabeledTrace."""

from __future__ import annotations

import random
from collections.abc import Iterable
from enum import Enum
from os import PathLike
from pathlib import Path

import pandas as pd

from hta_sql.compat.given import numbers
from hta_sql.compat.trace import Trace
from hta_sql.errors import BadParameter, HtaSqlError

Numbers = int | Iterable[int] | None


class DeviceType(Enum):
    """Which side of the trace is compared."""

    CPU = 1
    GPU = 2
    ALL = 3


class LabeledTrace:
    """A trace with a label for its columns in a comparison.

    Args:
        label: The label. The default is a random one.
        t: The trace, such as `analyzer.t`.
        trace_dir: Or the folder of the traces.
        exact: False rounds times as HTA does.

    Raises:
        BadParameter: Neither a trace nor a folder is given.
    """

    def __init__(
        self,
        label: str | None = None,
        t: Trace | None = None,
        trace_dir: str | PathLike[str] | None = None,
        *,
        exact: bool = True,
    ) -> None:
        self.label = label or f"t{random.randint(0, 10)}"
        if not isinstance(t, Trace | None):
            raise BadParameter(f"t is of type {type(t).__name__}; give a Trace, such as analyzer.t")
        if t is None and (trace_dir is None or not Path(trace_dir).expanduser().is_dir()):
            raise BadParameter(f"trace_dir is {trace_dir!r}; give a trace or a folder of traces")
        self.t = t or Trace(trace_dir=trace_dir, exact=exact)

    def ranks(self) -> list[int]:
        """The ranks, in order."""
        return self.t.get_ranks()

    def iterations(self) -> list[int]:
        """The profiler steps of all ranks, in order."""
        return self.t.frame("steps", ranks=self.ranks())["step"].tolist()

    def extract_ops(
        self,
        rank: Numbers = None,
        iteration: Numbers = None,
        device_type: DeviceType = DeviceType.ALL,
    ) -> pd.DataFrame:
        """The spans of these ranks and steps on one side of the trace, as a data frame.

        The defaults are the first rank and the first step.
        """
        ranks, steps = self.chosen(rank, iteration)
        spans = pd.concat([self.t.get_trace(rank).assign(rank=rank) for rank in ranks])
        spans = spans[spans["iteration"].isin(steps)]
        if device_type is DeviceType.ALL:
            return spans
        on_device = spans["stream"] != -1
        return spans[on_device if device_type is DeviceType.GPU else ~on_device]

    def get_ops_summary(self, ops: pd.DataFrame) -> pd.DataFrame:
        """Count and total duration by category and name of the spans in a data frame."""
        found = ops.groupby(["cat", "name"])["dur"].agg(["count", "sum"]).reset_index()
        found = found.set_axis(["cat_id", "name_id", "counts", "total_duration"], axis=1)
        texts = found[["cat_id", "name_id"]].set_axis(["cat", "name"], axis=1)
        self.t.decode(texts)
        return texts.assign(
            cat=texts["s_cat"],
            name=self.t.symbol_table.decoded(texts["name"]),
            short_name=texts["s_name"],
        )[["cat", "name", "short_name"]].join(
            found[["counts", "total_duration", "cat_id", "name_id"]]
        )

    def chosen(self, rank: Numbers, iteration: Numbers) -> tuple[list[int], list[int]]:
        """The ranks and steps as lists; raises BadParameter if the trace does not have them."""
        return (
            _numbers("rank", rank, self.ranks()),
            _numbers("iteration", iteration, self.iterations()),
        )


def _numbers(what: str, given: Numbers, there: list[int]) -> list[int]:
    if given is None:
        given = there[:1]
    chosen = numbers(what, given if isinstance(given, Iterable) else [given])
    if not chosen or not set(chosen) <= set(there):
        raise BadParameter(f"{what} is {given!r}; the trace has {there}")
    return chosen


Side = LabeledTrace | Trace | str | PathLike[str]


def _labeled(side: Side, label: str, exact: bool) -> LabeledTrace:
    if isinstance(side, LabeledTrace):
        return side
    if isinstance(side, Trace):
        return LabeledTrace(label, side)
    if not isinstance(side, str | PathLike):
        raise BadParameter(
            f"{label.lower()} is of type {type(side).__name__}; give a folder, a LabeledTrace, or "
            "a Trace such as analyzer.t"
        )
    return LabeledTrace(label, trace_dir=side, exact=exact)


class TraceDiff:
    """Compares the operators and kernels of two traces."""

    @classmethod
    def compare_traces(
        cls,
        control: Side,
        test: Side,
        control_rank: Numbers = None,
        test_rank: Numbers = None,
        control_iteration: Numbers = None,
        test_iteration: Numbers = None,
        device_type: DeviceType = DeviceType.ALL,
        use_short_name: bool = False,
        *,
        exact: bool = True,
    ) -> pd.DataFrame:
        """Count and total duration in µs of each name on both sides, and the differences.

        Args:
            control: A folder of traces, a Trace, or a LabeledTrace, whose label the columns have.
            test: The other side, in the same way.
            control_rank: One rank or several. The default is the first.
            test_rank: The same of the other side.
            control_iteration: One step or several. The default is the first.
            test_iteration: The same of the other side.
            device_type: Which side of the traces is compared.
            use_short_name: Whether names are compared without template arguments and parameters.
            exact: False rounds times as HTA does.

        Raises:
            BadParameter: A side does not have a rank or step.
        """
        sides = [_labeled(control, "Control", exact), _labeled(test, "Test", exact)]
        if sides[0].label == sides[1].label:
            sides[1].label += "_control_test"
        asked = [(control_rank, control_iteration), (test_rank, test_iteration)]
        totals = [
            _totals(side, side.chosen(*which), device_type, use_short_name)
            for side, which in zip(sides, asked, strict=True)
        ]
        before, after = (side.label for side in sides)
        names = totals[0].index.append(totals[1].index.difference(totals[0].index))
        found = pd.concat(
            [
                part.reindex(names, fill_value=0).add_prefix(f"{label}_")
                for part, label in zip(totals, (before, after), strict=True)
            ],
            axis=1,
        )
        found["diff_counts"] = found[f"{after}_counts"] - found[f"{before}_counts"]
        found["diff_duration"] = (
            found[f"{after}_total_duration"] - found[f"{before}_total_duration"]
        )
        signs = {1: "+", -1: "-", 0: "="}
        found["counts_change_categories"] = [
            signs[(count > 0) - (count < 0)] for count in found["diff_counts"]
        ]
        return found

    @classmethod
    def ops_diff(
        cls,
        control: Side,
        test: Side,
        control_rank: Numbers = None,
        test_rank: Numbers = None,
        control_iteration: Numbers = None,
        test_iteration: Numbers = None,
        device_type: DeviceType = DeviceType.ALL,
    ) -> dict[str, list[str]]:
        """The names that are added, deleted, increased, decreased and unchanged in number."""
        found = cls.compare_traces(
            control, test, control_rank, test_rank, control_iteration, test_iteration, device_type
        )
        before, after = (found[column] for column in found.columns[[0, 2]])
        kinds = {
            "added": (before == 0) & (after > 0),
            "deleted": (before > 0) & (after == 0),
            "increased": (before > 0) & (after > before),
            "decreased": (after > 0) & (after < before),
            "unchanged": (after > 0) & (after == before),
        }
        return {kind: found.index[rows].tolist() for kind, rows in kinds.items()}

    @classmethod
    def visualize_counts_diff(
        cls, df: pd.DataFrame, show_image: bool = True, export_image_path: str | None = None
    ) -> None:
        """Show the counts of a result of compare_traces as bars, or write them to an image."""
        _bars(df, "counts", "Count", show_image, export_image_path)

    @classmethod
    def visualize_duration_diff(
        cls, df: pd.DataFrame, show_image: bool = True, export_image_path: str | None = None
    ) -> None:
        """Show the durations of a result of compare_traces as bars, or write them to an image."""
        _bars(df, "duration", "Total duration (us)", show_image, export_image_path)


def _totals(
    side: LabeledTrace, which: tuple[list[int], list[int]], device: DeviceType, short: bool
) -> pd.DataFrame:
    ranks, steps = which
    found = side.t.frame(
        "totals",
        ranks=ranks,
        steps=steps,
        device=device is not DeviceType.CPU,
        host=device is not DeviceType.GPU,
        short=short,
    )
    return found.set_index("name").rename_axis("short_name" if short else "name")


def _bars(df: pd.DataFrame, what: str, title: str, is_shown: bool, image: str | None) -> None:
    from hta_sql import plot  # noqa: F401  says what to install if plotly is missing
    from plotly import graph_objects as go  # isort: skip

    columns = [column for column in df.columns if column.endswith(what)]
    if len(columns) != 3:
        raise HtaSqlError(f"a result of compare_traces has 3 columns of {what}, not {columns}")
    figure = go.Figure([go.Bar(x=df.index, y=df[column], name=column) for column in columns])
    figure.update_layout(barmode="group", yaxis_title=title)
    if is_shown:
        figure.show()
    if image:
        figure.write_image(image)
