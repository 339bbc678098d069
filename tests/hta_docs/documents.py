"""What docs/ says of the differences from HTA, as text."""

import csv
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Query

DOCS = Path(__file__).parents[2] / "docs"


DIFFERENCES = (DOCS / "differences-from-hta.md").read_text(encoding="utf-8")


COMING = (DOCS / "coming-from-hta.md").read_text(encoding="utf-8")


DETAILS = (DOCS / "hta-calls.md").read_text(encoding="utf-8")


Number = int | float | Decimal


Ours = Callable[..., list[dict]]  # a query and a job to its rows


csv.field_size_limit(10**9)


# hta-semantics §4: the public methods of TraceAnalysis.
HTA_METHODS = {
    "critical_path_analysis",
    "generate_trace_with_counters",
    "get_aten_op_kernels_and_delay",
    "get_comm_comp_overlap",
    "get_cuda_kernel_launch_stats",
    "get_cupti_counter_data_with_operators",
    "get_frequent_cuda_kernel_sequences",
    "get_gpu_kernel_breakdown",
    "get_gpu_kernels_with_user_annotations",
    "get_gpu_user_annotation_breakdown",
    "get_idle_time_breakdown",
    "get_memory_bw_summary",
    "get_memory_bw_time_series",
    "get_potential_stragglers",
    "get_profiler_steps",
    "get_queue_length_summary",
    "get_queue_length_summary_from_time_series",
    "get_queue_length_time_series",
    "get_temporal_breakdown",
    "get_time_spent_blocked_on_full_queue",
    "overlay_critical_path_analysis",
}


# The text


def sections(text: str, level: int) -> dict[str, str]:
    """Text by heading of this level, up to the next heading of this level or above."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    is_code = False
    for line in text.splitlines(keepends=True):
        is_code ^= line.startswith("```")
        marks, _, heading = line.partition(" ")
        if not is_code and marks and not marks.strip("#") and len(marks) <= level:
            lines = found.setdefault(heading.rstrip(), []) if len(marks) == level else []
        else:
            lines.append(line)
    return {heading: "".join(body) for heading, body in found.items()}


ENTRIES = sections(DIFFERENCES, 3)


NUMBER = re.compile(r"(?<![\w.,-])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def numbers_in(text: str) -> list[Decimal]:
    prose = re.sub(r"```.*?```|`[^`]*`|ProfilerStep#\d+", "", text, flags=re.DOTALL)
    prose = re.sub(r"^\|.*\|$", "", prose, flags=re.MULTILINE)
    return [Decimal(found.rstrip(",").replace(",", "")) for found in NUMBER.findall(prose)]


def is_rounded(shown: Decimal, value: Number) -> bool:
    """Whether the text shows this value, rounded to the digits it shows."""
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    last_digit = Decimal(1).scaleb(min(shown.as_tuple().exponent, 0))
    return abs(shown - exact) <= last_digit / 2 and (shown == 0) == (exact == 0)


# Names, parameters, columns


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def tables(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Header and rows of each table."""
    for found in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        header, _, *rows = map(cells, found.splitlines())
        yield header, rows


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def links(text: str) -> list[str]:
    """Where links lead, in the order of the text."""
    return re.findall(r"\]\(([^)\s]+)\)", text)


def queries_like_htas() -> dict[str, Query]:
    """Those of a device's time, and the others of which HTA has something like it."""
    newest = Catalog.load().newest
    return {
        name: query
        for name, query in newest.items()
        if query.theme == "gpu" or name in ("stragglers", "critical_path", "critical_path_summary")
    }


QUERIES = queries_like_htas()


# hta-semantics §4.
HTA_PARAMETERS = {
    "TraceAnalysis": ["trace_files", "trace_dir", "include_last_profiler_step"],
    "critical_path_analysis": ["rank", "annotation", "instance_id", "data_load_events"],
    "overlay_critical_path_analysis": [
        "rank",
        "critical_path_graph",
        "output_dir",
        "only_show_critical_events",
        "show_all_edges",
    ],
    "get_aten_op_kernels_and_delay": ["ranks", "sort_by"],
    "get_comm_comp_overlap": ["visualize"],
    "get_cuda_kernel_launch_stats": [
        "ranks",
        "runtime_cutoff",
        "launch_delay_cutoff",
        "include_memory_events",
        "visualize",
    ],
    "get_cupti_counter_data_with_operators": ["ranks"],
    "get_frequent_cuda_kernel_sequences": [
        "operator_name",
        "output_dir",
        "min_pattern_len",
        "rank",
        "top_k",
        "visualize",
        "compress_other_kernels",
    ],
    "get_gpu_kernel_breakdown": [
        "visualize",
        "duration_ratio",
        "num_kernels",
        "include_memory_kernels",
        "image_renderer",
    ],
    "get_gpu_kernels_with_user_annotations": ["rank", "expand_names", "shorten_names"],
    "get_gpu_user_annotation_breakdown": [
        "use_gpu_annotation",
        "visualize",
        "duration_ratio",
        "num_kernels",
        "allowlist_patterns",
        "image_renderer",
    ],
    "get_idle_time_breakdown": [
        "ranks",
        "streams",
        "visualize",
        "visualize_pctg",
        "show_idle_interval_stats",
        "consecutive_kernel_delay",
    ],
    "get_memory_bw_summary": ["ranks"],
    "get_memory_bw_time_series": ["ranks"],
    "get_potential_stragglers": [
        "profiler_steps",
        "num_candidates",
        "visualize",
        "straggler_identification_impl",
    ],
    "get_profiler_steps": [],
    "get_queue_length_summary": ["ranks"],
    "get_queue_length_time_series": ["ranks"],
    "get_temporal_breakdown": ["visualize"],
    "get_time_spent_blocked_on_full_queue": ["queue_length_dict", "max_queue_length"],
}


# What runs


def calls() -> Iterator[tuple[str, str, dict[str, str]]]:
    """(query, HTA's call, {language: call}) of the blocks of calls; HTA's is that before it."""
    for heading, body in sections(DETAILS, 2).items():
        [block] = re.findall(r"^```\n(HTA .*?)^```$", body, re.MULTILINE | re.DOTALL)
        for part in re.split(r"^HTA +", block, flags=re.MULTILINE)[1:]:
            theirs, *lines = part.splitlines()
            assert re.findall(r"analyzer\.(\w+)\(", theirs)[0] in heading.split(", ")
            for three in zip(*[iter(lines)] * 3, strict=True):
                ours = dict(line.split(maxsplit=1) for line in three)
                yield re.findall(r"run\.(\w+)\(", ours["Python"])[0], theirs, ours


CALLS = list(calls())
