"""visualize=True shows charts, through a renderer that keeps them."""

from collections.abc import Iterator

import plotly.io as pio
import pytest
from plotly.io.base_renderers import ExternalRenderer

from hta_sql.compat import TraceDiff


class Kept(ExternalRenderer):
    """Keeps the figures that are shown."""

    def __init__(self) -> None:
        self.figures: list[dict] = []

    def render(self, fig_dict: dict) -> None:
        self.figures.append(fig_dict)


@pytest.fixture
def shown() -> Iterator[list[dict]]:
    before = pio.renderers.default
    pio.renderers["kept"] = kept = Kept()
    pio.renderers.default = "kept"
    yield kept.figures
    pio.renderers.default = before


def test_methods_show_charts(loaded, shown, tmp_path):
    analyzer = loaded()
    for count, method in [
        (1, analyzer.get_comm_comp_overlap),
        (1, analyzer.get_temporal_breakdown),
        (3, analyzer.get_gpu_kernel_breakdown),
        (1, analyzer.get_idle_time_breakdown),
        (1, lambda: analyzer.get_cuda_kernel_launch_stats(runtime_cutoff=1)),
    ]:
        shown.clear()
        method()
        assert len(shown) == count and all(figure["data"] for figure in shown), method
    shown.clear()
    analyzer.get_potential_stragglers(visualize=True)
    analyzer.get_gpu_user_annotation_breakdown(use_gpu_annotation=False)
    analyzer.get_frequent_cuda_kernel_sequences("aten::mm", tmp_path, 1, visualize=True)
    assert [list(figure["data"][0]["x"]) for figure in shown[1:]] == [
        ["ProfilerStep#1"],
        ["aten::mm|gemm<float>(int)|ncclDevKernel_AllReduce"],
    ]


def test_differences_are_shown(loaded, shown):
    t = loaded().t
    found = TraceDiff.compare_traces(t, t)
    TraceDiff.visualize_counts_diff(found)
    TraceDiff.visualize_duration_diff(found)
    assert [[bar["name"] for bar in figure["data"]] for figure in shown] == [
        ["Control_counts", "Test_counts", "diff_counts"],
        ["Control_total_duration", "Test_total_duration", "diff_duration"],
    ]
    TraceDiff.visualize_counts_diff(found, show_image=False)
    assert len(shown) == 2
