"""Names, parameters and columns in the text exist."""

import ast
import csv
import inspect
import re

import pytest
from hta_cases import needs_hta_outputs
from hta_docs.documents import (
    CALLS,
    COMING,
    DETAILS,
    DIFFERENCES,
    HTA_METHODS,
    HTA_PARAMETERS,
    QUERIES,
    links,
    quoted,
    sections,
    tables,
)
from real_files import HTA_OUTPUTS, TRACE_FILES

import hta_sql
from hta_sql.catalogue.catalog import Catalog

OF_TRACE_DIFF = ("kernel_diff", "op_diff")


INDEX_HEAD = ["HTA", "query, in Python", "command", "numbers differ"]


# What HTA has outside of TraceAnalysis; hta-semantics §6, §8.
OUTSIDE = {
    "CallGraph(trace).get_stack_of_node(index)": "call_stack",
    "CallGraph": "op_calls",
    "correlate_execution_trace": "execution_node_ops",
    "add_et_column": "execution_node_ops",
    "MemoryAnalysis": "memory_categories",
}


EXPORTS = {
    "overlay_critical_path_analysis": "hta-sql export critical-path archive out.json.gz",
    "generate_trace_with_counters": "hta-sql export counters archive out.json.gz",
}


def index_rows() -> list[tuple[list[str], str, str, str]]:
    """(HTA's names, query, command, whether numbers differ) of the tables of all calls."""
    found = [rows for header, rows in tables(COMING) if header == INDEX_HEAD]
    assert len(found) == 2
    return [
        (quoted(theirs), query, command, numbers)
        for rows in found
        for theirs, query, command, numbers in rows
    ]


def test_index_names_every_method():
    methods = {name for theirs, *_ in index_rows() for name in theirs} - {"summary()"}
    assert methods == HTA_METHODS | {"TraceDiff"} | OUTSIDE.keys()


def test_index_has_a_query_or_an_export_for_every_call():
    found = set()
    for theirs, query, command, _ in index_rows():
        [line] = quoted(command)
        if not query:
            assert line == EXPORTS[theirs[0]]
            continue
        shape = r"\[`(run|two)\.(\w+)\((?:(\w+)=(.+))?\)`\]\(queries\.md#(\w+)\)"
        of, name, option, value, heading = re.fullmatch(shape, query).groups()
        assert heading == name
        assert name in {*QUERIES, *OF_TRACE_DIFF, *OUTSIDE.values()}, (theirs, name)
        assert (of == "two") == (name in OF_TRACE_DIFF)
        assert all(OUTSIDE.get(one, name) == name for one in theirs)
        found.add(name)
        if of == "two":
            assert line == f"hta-sql diff before after --table {name}"
            continue
        parameters = Catalog.load().find(name).parameters
        needed = [parameter.name for parameter in parameters if parameter.default is None]
        assert ([option] if option else []) == needed
        given = f" --{option.replace('_', '-')} {ast.literal_eval(value)}" if option else ""
        assert line == f"hta-sql run {name} archive{given}"
    of_methods = {
        (theirs[0], re.findall(r"(\w+)\(", query)[0]) for theirs, query, *_ in index_rows() if query
    }
    assert {
        (re.findall(r"analyzer\.(\w+)", call)[0], name) for name, call, _ in CALLS
    } <= of_methods
    assert found == {name for name, _, _ in CALLS} | set(OF_TRACE_DIFF) | set(OUTSIDE.values())


def test_index_and_details_name_the_same_differences():
    """Each call's links into the differences; those of a call of several rows together."""
    in_index: dict[str, set[str]] = {}
    for theirs, _, _, numbers in index_rows():
        assert numbers.startswith(("yes", "no", "as `critical_path`"))
        found = [link for link in links(numbers) if link.startswith("differences-from-hta.md#")]
        assert found or theirs[0] in {
            "get_potential_stragglers",
            "overlay_critical_path_analysis",
            "MemoryAnalysis",
            "correlate_execution_trace",
        }
        in_index.setdefault(theirs[0], set()).update(found)
    of_all = "differences-from-hta.md#time-steps-ranks"
    of_time = "differences-from-hta.md#the-mean-queue-length-is-also-given-over-time"
    for heading, body in sections(DETAILS, 2).items():
        found = {link for link in links(body) if link.startswith("differences-from-hta.md#")}
        assert found - {of_all, of_time} == in_index[heading.split(", ")[0]], heading


def test_index_names_every_entry_of_a_call():
    """An entry about single calls is in the index, or its chapter is."""
    named = {link.partition("#")[2] for *_, numbers in index_rows() for link in links(numbers)}
    of_all = {"Time, steps, ranks", "Also", "Critical path"}
    missing = [
        heading
        for chapter, body in sections(DIFFERENCES, 2).items()
        if chapter not in of_all
        for heading in sections(body, 3)
        if re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") not in named
    ]
    assert missing == ["The mean queue length is also given over time"]  # no number differs


def test_names_in_the_differences_exist():
    """What looks like a name of ours is a query, a parameter, a column, or HTA's."""
    like_htas = {**QUERIES, **{name: Catalog.load().find(name) for name in OF_TRACE_DIFF}}
    columns = {column.name for query in like_htas.values() for column in query.columns}
    parameters = {p.name for query in like_htas.values() for p in query.parameters}
    folders = {name for file in TRACE_FILES for name in (file.job, file.job.split("/")[0])}
    prose = re.sub(r"```.*?```|^\|.*\|$", "", DIFFERENCES, flags=re.DOTALL | re.MULTILINE)
    causes = {"host_wait", "kernel_wait", "other"}
    known = like_htas.keys() | columns | parameters | folders | causes | HTA_METHODS
    known |= {"parent", "parent_id"}  # of call graphs
    known |= {"compare_traces", "ops_diff", "device_type"}
    known |= {"data_loading"}  # a bound, and the parameter of its names
    known |= {name for names in HTA_PARAMETERS.values() for name in names}
    for found in quoted(prose):
        name = re.split(r"[=(]", found)[0]
        if re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)+|[a-z]+", name):
            assert name in known | {"cuda_sync"}, found


def test_every_parameter_of_hta_is_named():
    [(_, rows)] = tables(sections(COMING, 2)["Parameters"])
    left, right = [], []
    for theirs, here, *_ in rows:
        left += [name.split("=")[0] for name in quoted(theirs)]
        right += [name.split("=")[0] for name in quoted(here)]
    named = set(left) | {"trace_files", "trace_dir", "queue_length_dict"}  # positional in the calls
    assert named == {name for names in HTA_PARAMETERS.values() for name in names}
    of_paths = set(inspect.signature(hta_sql.compute_critical_path).parameters)
    ours = {p.name for query in QUERIES.values() for p in query.parameters}
    assert set(right) <= ours | of_paths
    # And all of ours that such a query has.
    new = quoted(sections(COMING, 2)["Queries that HTA does not have"])
    assert {
        p.name for name, query in QUERIES.items() if name not in new for p in query.parameters
    } <= set(right) | {"only_jobs", "only_ranks", "only_steps", "only_windows"}


def test_values_of_parameters_are_converted():
    """What the table has here is of the parameter's type, and HTA's in our unit."""
    [(_, rows)] = tables(sections(COMING, 2)["Parameters"])
    for theirs, here, *_ in rows:
        for text in quoted(here):
            name, _, value = text.partition("=")
            given = eval(value)
            takers = [p for q in QUERIES.values() for p in q.parameters if p.name == name]
            assert all(parameter.value(given) == given for parameter in takers), text
            if name.endswith("_ns"):
                assert given == 1000 * int(quoted(theirs)[0].partition("=")[2])


def test_queries_are_named_once():
    new = quoted(sections(COMING, 2)["Queries that HTA does not have"])
    calls = {name for name, _, _ in CALLS}
    assert calls | set(new) <= QUERIES.keys()
    assert not calls & set(new)


def test_every_method_is_named():
    headings = {name for heading in sections(DETAILS, 2) for name in heading.split(", ")}
    [(_, written)] = tables(sections(COMING, 2)["Traces for Perfetto"])
    diff = quoted(sections(COMING, 2)["Differences of traces"])[0].partition(".")[0]
    named = headings | {"get_queue_length_summary_from_time_series", diff}
    named |= {name for theirs, _ in written for name in quoted(theirs)} & HTA_METHODS
    assert named == HTA_METHODS | {"TraceDiff"}
    assert "`get_queue_length_summary_from_time_series`" in DETAILS


# What HTA gives of which no table was written; hta-semantics §4.10, §4.11.
HTA_SERIES = {
    "queue_length_series": {"ts", "pid", "tid", "stream", "queue_length"},
    "memory_bandwidth_series": {"ts", "pid", "name", "memory_bw_gbps"},
}


HTA_FILES = {
    "temporal_breakdown": "get_temporal_breakdown",
    "comm_comp_overlap": "get_comm_comp_overlap",
    "kernel_kind_breakdown": "get_gpu_kernel_breakdown_part0",
    "kernel_stats": "get_gpu_kernel_breakdown_part1",
    "annotation_stats": "get_gpu_user_annotation_breakdown_cpu",
    "annotated_kernels": "get_gpu_kernels_with_user_annotations_rank0",
    "idle_time_breakdown": "get_idle_time_breakdown_part0",
    "launch_stats": "get_cuda_kernel_launch_stats",
    "op_launch_delay": "get_aten_op_kernels_and_delay",
    "kernel_sequences": "get_frequent_cuda_kernel_sequences_aten_linear_min1",
    "queue_length_summary": "get_queue_length_summary",
    "queue_full_time": "get_time_spent_blocked_on_full_queue",
    "memory_bandwidth_summary": "get_memory_bw_summary",
    "hardware_counters": "get_cupti_counter_data_with_operators",
    "critical_path_summary": "critical_path_full",
}


COLUMN_TABLES = {
    quoted(header[1])[0]: rows
    for header, rows in tables(DETAILS)
    if header[0] == "HTA" and len(header) == 2
}


def test_our_columns_exist():
    assert COLUMN_TABLES.keys() == HTA_FILES.keys() | HTA_SERIES.keys()
    for name, rows in COLUMN_TABLES.items():
        columns = {column.name for column in QUERIES[name].columns}
        for theirs, here in rows:
            assert quoted(theirs) and quoted(here)
            assert set(quoted(here)) <= columns, name


def test_names_in_the_text_of_a_call_exist():
    """Behind the tables, our columns stand in backticks, too."""
    columns = {column.name for query in QUERIES.values() for column in query.columns}
    for heading, body in sections(DETAILS, 2).items():
        prose = re.sub(r"```.*?```|^\|.*\|$", "", body, flags=re.DOTALL | re.MULTILINE)
        for name in quoted(prose):
            if name.startswith("is_") or name.endswith(("_ns", "_count")):
                assert name in columns, (heading, name)


@needs_hta_outputs
@pytest.mark.parametrize("query", COLUMN_TABLES)
def test_columns_of_hta_exist(query):
    if query in HTA_SERIES:
        found = HTA_SERIES[query]
    else:
        files = HTA_OUTPUTS.glob(f"*/{HTA_FILES[query]}.csv")
        with open(max(files, key=lambda file: file.stat().st_size), newline="") as file:
            found = {name.split("__")[-1] for name in next(csv.reader(file))}
    named = {name for theirs, _ in COLUMN_TABLES[query] for name in quoted(theirs)}
    assert named <= found
    # All of it is named, except for the rank, and all that HTA copies from the trace.
    if query not in {"annotated_kernels", "hardware_counters"}:
        assert found - named <= {"rank", "tid", "pid"}
