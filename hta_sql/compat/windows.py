"""The windows of critical paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hta_sql.critical_path.windows import path_window

if TYPE_CHECKING:
    from hta_sql.compat.trace import Trace


@dataclass(frozen=True)
class Window:
    """What a graph was asked for: as the arguments of compute_critical_path."""

    rank: int
    annotation: str | None
    instance: int | tuple[int, int]
    data_loading: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the window in the archive."""
        return path_window(None, self.annotation, self.instance)

    def compute(self, t: Trace) -> None:
        """Compute the path, and store it in the archive."""
        t.recorded.compute_critical_path(
            annotation=self.annotation,
            instance=self.instance,
            only_ranks=[self.rank],
            data_loading=self.data_loading,
        )
