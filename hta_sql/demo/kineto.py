"""Parts of Kineto's text: times, the beginnings of events, arguments, fixed rows."""

import json

from hta_sql.demo.operators import Kernel, Op
from hta_sql.demo.plan import BASE_NS
from hta_sql.demo.records import Collective, Group

GPUS_PER_HOST = 8
SMS, WARPS_PER_SM = 132, 64
TRUNCATE_RANKS_AT = 30


def relative_microseconds(ns: int) -> str:
    """Microseconds since the base time, with three decimals."""
    ns -= BASE_NS
    return f"{ns // 1000}.{ns % 1000:03d}"


def absolute_microseconds(ns: int) -> str:
    """Microseconds with three decimals; durations too."""
    return f"{ns // 1000}.{ns % 1000:03d}"


def unpadded_microseconds(ns: int) -> str:
    """The fraction without its leading zeros: 5 ns is `.5`, as Kineto of March 2024 wrote it."""
    return f"{ns // 1000}.{ns % 1000}"


def integer_microseconds(ns: int) -> str:
    """Whole microseconds, rounded down."""
    return str(ns // 1000)


TIME_FORMATS = {
    # name: (time, duration). All but the first have top-level keys after the events.
    "based": (relative_microseconds, absolute_microseconds),
    "based_late": (relative_microseconds, absolute_microseconds),
    "absolute": (absolute_microseconds, absolute_microseconds),
    "integer": (integer_microseconds, integer_microseconds),
    "unpadded": (unpadded_microseconds, unpadded_microseconds),
}


def x(category: str, name: str) -> str:
    """The beginning of a complete event; its name may contain quotes."""
    text = name if '"' not in name else json.dumps(name)[1:-1]
    return f'  {{\n    "ph": "X", "cat": "{category}", "name": "{text}", '


def flow_event(category: str, id_: int, pid: int, tid: int, ts: str, ends: bool) -> str:
    """One end of an arrow between two events."""
    phase, binding = ("f", ', "bp": "e"') if ends else ("s", "")
    return (
        f'  {{\n    "ph": "{phase}", "id": {id_}, "pid": {pid}, "tid": {tid}, "ts": {ts},\n'
        f'    "cat": "{category}", "name": "{category}"{binding}\n  }}'
    )


def metadata(name: str, ts: str, pid: int, tid: int, args: str) -> str:
    """A row that names or orders a process or thread."""
    return (
        f'  {{\n    "name": "{name}", "ph": "M", "ts": {ts}, "pid": {pid}, "tid": {tid},\n'
        f'    "args": {{\n      {args}\n    }}\n  }}'
    )


def inputs(op: Op) -> str:
    """The arguments that describe an operator's inputs. () in the dims is a scalar."""
    if not op.dims:
        return ""
    strides = []
    for dims in op.dims:
        stride = [1] * len(dims)
        for i in range(len(dims) - 1, 0, -1):
            stride[i - 1] = stride[i] * dims[i]
        strides.append(stride)
    types = [op.dtype if dims else "Scalar" for dims in op.dims]
    concrete = ["" if dims else "1" for dims in op.dims]
    return (
        f'"Concrete Inputs": {json.dumps(concrete)}, "Input type": {json.dumps(types)}, '
        f'"Input Strides": {json.dumps(strides)}, '
        f'"Input Dims": {json.dumps([list(dims) for dims in op.dims])}, '
    )


def module_id(op: Op) -> str:
    """The argument with the module's number, if the Python event is a module's call.

    The number is the end of the name.
    """
    module = op.name.startswith("nn.Module: ")
    return f', "Python module id": {op.name.rpartition("_")[2]}' if module else ""


def kernel_args(kernel: Kernel) -> str:
    """The arguments that CUPTI records of a kernel: its launch shape and its occupancy."""
    blocks = kernel.grid[0] * kernel.grid[1] * kernel.grid[2] / SMS
    warps = blocks * kernel.block[0] * kernel.block[1] * kernel.block[2] / 32
    occupancy = min(100, round(100 * warps / WARPS_PER_SM))
    return (
        f'      "registers per thread": {kernel.registers},      '
        f'"shared memory": {kernel.shared_bytes},      "blocks per SM": {blocks:.6f},      '
        f'"warps per SM": {warps:.6f},      "grid": {list(kernel.grid)},      '
        f'"block": {list(kernel.block)},      "est. achieved occupancy %": {occupancy}'
    )


def ranks_text(group: Group) -> str:
    """The members as PyTorch prints them: a long list without its middle."""
    ranks = [str(member) for member in group.members]
    if len(ranks) > TRUNCATE_RANKS_AT:
        ranks = [*ranks[: TRUNCATE_RANKS_AT - 1], "...", ranks[-1]]
    return f"[{', '.join(ranks)}]"


def collective_args(collective: Collective, rank: int, ids: str) -> str:
    """The arguments that both a collective's operator and its kernel have on a rank."""
    group, address = collective.group, 0x7F10_0000_0000 + 0x200_0000 * (collective.number % 64)
    name, splits = collective.name, ([], [])
    elements = collective.elements_in, collective.elements_out
    ends = ""
    if collective.splits:
        at = group.members.index(rank)
        splits = list(collective.splits[at]), [row[at] for row in collective.splits]
        elements = sum(splits[0]), sum(splits[1])
    if collective.ends:
        source, target = collective.ends
        name = "send" if rank == source else "recv"
        ends = f'"Src Rank": {source}, "Dst Rank": {target}, '
    text_of_ids = "" if ids == "none" else f', "Seq": {collective.seq}'
    if ids == "comms_id":
        text_of_ids += f', "Comms Id": {collective.comms_id}'
    return (
        f'"Collective name": "{name}", "In msg nelems": {elements[0]}, '
        f'"Out msg nelems": {elements[1]}, "Group size": {len(group.members)}, '
        f'"dtype": "BFloat16", "In split size": "{splits[0]}", "Out split size": "{splits[1]}", '
        f'"Process Group Name": "{group.name}", '
        f'"Process Group Description": "{group.description}", '
        f'"Process Group Ranks": "{ranks_text(group)}", {ends}'
        f'"Input Tensors start": "[{address}]", '
        f'"Output Tensors start": "[{address}]"{text_of_ids}'
    )


def devices() -> str:
    """The GPUs of a host: all visible ones, not only the one in use."""
    shared = '"sharedMemPerMultiprocessor": 233472'
    return ",".join(
        f"""
    {{
      "id": {i}, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 84978237440,
      "computeMajor": 9, "computeMinor": 0,
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
      "regsPerBlock": 65536, "warpSize": 32,
      "sharedMemPerBlock": 49152, "numSms": {SMS}
    , "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, {shared}
    }}"""
        for i in range(GPUS_PER_HOST)
    )


def last_rows(start: str, dur: str, end: str) -> list[str]:
    """The rows about the profiler itself. A file without the last one was cut short."""
    return [
        f"""  {{
    "ph": "X", "cat": "Trace", "ts": {start}, "dur": {dur},
    "pid": "Spans", "tid": "PyTorch Profiler",
    "name": "PyTorch Profiler (0)",
    "args": {{
      "Op count": 0
    }}
  }}""",
        f"""  {{
    "name": "process_sort_index", "ph": "M", "ts": {start},
    "pid": "Spans", "tid": 0,
    "args": {{
      "sort_index": 536870912
    }}
  }}""",
        f"""  {{
    "name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g",
    "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": {start}
  }}""",
        f"""  {{
    "name": "Record Window End", "ph": "i", "s": "g",
    "pid": "", "tid": "", "ts": {end}
  }}""",
    ]
