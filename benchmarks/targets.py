"""What has to hold, as data, and the figures that it is held against."""

from dataclasses import dataclass
from statistics import median
from typing import Any

from cases import Session
from measure import best

from hta_sql.catalogue.catalog import Catalog


@dataclass(frozen=True)
class Target:
    """A bound of one figure: `least` or `most`."""

    figure: str
    text: str
    least: float | None = None
    most: float | None = None

    def met_by(self, value: float) -> bool:
        return value <= self.most if self.most is not None else value >= (self.least or 0.0)

    @property
    def bound(self) -> str:
        return f"≤ {self.most:g}" if self.most is not None else f"≥ {self.least:g}"


TARGETS = (
    Target("hta_over_ours", "load, one core: HTA's time / ours", least=6),
    Target("ours_over_json", "load, one core: our time / gzip + orjson", most=0.75),
    Target("ours_peak_gb", "load: our peak memory, GB", most=1),
    Target("huge_peak_gb", "load of 3 GB plain JSON: our peak memory, GB", most=1),
    Target("archive_over_trace", "archive / gzipped trace, bytes", most=1.3),
    Target("two_workers_speedup", "two ranks: one worker's time / two workers'", least=1.7),
    Target("cli_run_s", "`hta-sql run temporal_breakdown`, fresh process, s", most=1),
    Target("cli_list_s", "`hta-sql list`, fresh process, s", most=0.5),
    Target("slowest_warm_s", "slowest query, warm, s, but for those below", most=0.5),
    Target("detailed_warm_s", "slower of idle_gaps and annotated_kernels, warm, s", most=1.5),
    Target("host_warm_s", "slowest query of the host, warm, s", most=1.5),
    Target("stacks_warm_s", "2 million events with Python's stacks: slowest query, s", most=1.5),
    Target("stacks_enrichment_frac", "ingest of these: enrichment's share of the time", most=0.35),
    Target("ranks_warm_s", "64 ranks of 20,000 collectives: slowest query across ranks, s", most=5),
    Target("ranks_peak_gb", "its peak memory, GB", most=2),
    Target("path_s", "critical path of a step of 60,000 events, fresh process, s", most=5),
    Target("diff_warm_s", "two traces of 2 million events: slowest comparison, warm, s", most=3),
    Target("align_s", "100,000 operators aligned with 100,000, s", most=10),
    Target("align_peak_gb", "its peak memory, GB", most=2),
    Target("report_s", "report on 64 ranks of 100,000 events, fresh process, s", most=30),
    Target("perfetto_s", "one step of them for Perfetto, fresh process, s", most=20),
    Target("shown_peak_gb", "peak memory of both, GB", most=1.5),
    Target("growth", "ten times the trace: a query's time grows at most by", most=13),
)
DETAILED = {"idle_gaps", "annotated_kernels"}
COMM = {name for name, query in Catalog.load().newest.items() if query.theme == "comm"}
COMPARE = {name for name, query in Catalog.load().newest.items() if query.theme == "compare"}
HOST = {name for name, query in Catalog.load().newest.items() if query.theme == "host"}


def figures(session: Session) -> dict[str, float]:
    """Every figure that this run can give; those with a target and those that explain them."""
    cost = {name: best(costs) for name, costs in session.costs.items()}
    found: dict[str, float] = {}
    ours = cost.get("load/ours")
    if ours:
        found["ours_peak_gb"] = ours.peak_bytes / 1e9
        found["archive_over_trace"] = session.archive_bytes / session.one.bytes
        found["million_events_per_s"] = sum(session.one.event_counts) / ours.wall_s / 1e6
    for name, contestant in (("json", "load/json"), ("json_without_gc", "load/json_without_gc")):
        other = cost.get(contestant)
        if ours and other:
            found[f"ours_over_{name}"] = ours.wall_s / other.wall_s
            found[f"ours_over_{name}_cpu"] = ours.cpu_s / other.cpu_s
            found[f"ours_over_{name}_peak"] = ours.peak_bytes / other.peak_bytes
    hta = cost.get("load/hta")
    if ours and hta:
        found["hta_over_ours"] = hta.wall_s / ours.wall_s
        found["hta_over_ours_cpu"] = hta.cpu_s / ours.cpu_s
        found["hta_over_ours_peak"] = hta.peak_bytes / ours.peak_bytes
    if "load/two_workers" in cost and "load/one_worker" in cost:
        found["two_workers_speedup"] = (
            cost["load/one_worker"].wall_s / cost["load/two_workers"].wall_s
        )
    if "load/huge" in cost:
        found["huge_peak_gb"] = cost["load/huge"].peak_bytes / 1e9
    for name, figure in (("cli/run", "cli_run_s"), ("cli/list", "cli_list_s")):
        if name in cost:
            found[figure] = cost[name].wall_s
    warm = {name: query["warm_s"] for name, query in session.queries.items() if "warm_s" in query}
    # A case is named by its query, or by the query with its parameters behind.
    host = {name for name in warm if name.partition("(")[0] in HOST}
    for figure, names in (
        ("slowest_warm_s", warm.keys() - DETAILED - host - COMM - COMPARE),
        ("detailed_warm_s", warm.keys() & DETAILED),
        ("host_warm_s", host),
    ):
        if names:
            found[figure] = max(warm[name] for name in names)
    if session.stacks:
        found["stacks_warm_s"] = max(query["warm_s"] for query in session.stacks.values())
    for figure, case in (("enrichment_frac", "ours"), ("stacks_enrichment_frac", "stacks")):
        shares = [
            run.said["enrich_s"] / run.wall_s
            for run in session.costs.get(f"load/{case}", [])
            if run.said["enrich_s"] is not None
        ]
        if shares:
            # Noise makes a time longer, but a share either way.
            found[figure] = median(shares)
    if session.ranks:
        found["ranks_warm_s"] = max(query["warm_s"] for query in session.ranks.values())
        found["ranks_peak_gb"] = max(query["peak_gb"] for query in session.ranks.values())
    if "path/ours" in cost:
        found["path_s"] = cost["path/ours"].wall_s
        found["path_peak_gb"] = cost["path/ours"].peak_bytes / 1e9
        if "path/hta" in cost:
            found["hta_path_over_ours"] = cost["path/hta"].wall_s / cost["path/ours"].wall_s
    if session.diffs:
        aligned = session.diffs.get("op_alignment", {})
        found |= {
            f"align_{key}": aligned[name]
            for key, name in (("s", "warm_s"), ("peak_gb", "peak_gb"))
            if name in aligned
        }
        found["diff_warm_s"] = max(query["warm_s"] for query in session.diffs.values())
    if "diff/cli" in cost:
        found["diff_cli_s"] = cost["diff/cli"].wall_s
        if "diff/hta" in cost:
            found["hta_compare_traces_s"] = cost["diff/hta"].wall_s
    if {"shown/report", "shown/perfetto"} <= cost.keys():
        report, perfetto = cost["shown/report"], cost["shown/perfetto"]
        found |= {
            "report_s": report.wall_s,
            "perfetto_s": perfetto.wall_s,
            "shown_peak_gb": max(report.peak_bytes, perfetto.peak_bytes) / 1e9,
        }
    growth = [query["times"] for query in session.growth.values()]
    if growth:
        found["growth"] = max(growth)
    return found


def judged(found: dict[str, float]) -> list[dict[str, Any]]:
    """Every target with its value and whether it is met; None for both if it was not measured."""
    return [
        {
            "figure": target.figure,
            "text": target.text,
            "bound": target.bound,
            "value": found.get(target.figure),
            "met": target.met_by(found[target.figure]) if target.figure in found else None,
        }
        for target in TARGETS
    ]
