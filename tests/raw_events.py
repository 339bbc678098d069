"""Events of Kineto's JSON, in the words of the catalogue, told a second time in plain Python."""

import json
import re
from dataclasses import dataclass
from decimal import Decimal


def parse(text: str | bytes):
    """JSON with fractions as written."""
    return json.loads(text, parse_float=Decimal)


def nanoseconds(us) -> int:
    """Microseconds as the trace has them to nanoseconds; these traces have no finer ones."""
    if isinstance(us, int):
        return us * 1000
    ns = Decimal(us) * 1000
    assert ns == int(ns), f"{us} us is no whole number of nanoseconds"
    return int(ns)


def whole_number(value) -> int | None:
    """A JSON value that is a number, also in quotes, as older profilers write them."""
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"-?\d+", value) else None
    return None if value is None else int(value)


def is_runtime_call(cat: str | None) -> bool:
    return cat == "Runtime" or (cat or "").endswith(("_runtime", "_driver"))


def is_activity(cat: str | None) -> bool:
    return cat in {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"} or (
        cat == "mtia_ccp_events"
    )


OPERATORS = {"cpu_op", "Operator"}


def is_module(span: "Span") -> bool:
    return span.cat == "python_function" and span.name.startswith("nn.Module: ")


def is_host_op(cat: str | None) -> bool:
    return is_runtime_call(cat) or cat in {
        "cpu_op",
        "Operator",
        "user_annotation",
        "python_function",
    }


def kind_of(cat: str, name: str, args: dict) -> str:
    """The first rule of the catalogue that applies."""
    if cat in {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"}:
        return "memory"
    if args.get("Collective name"):
        return "communication"
    function = name.removeprefix("void ")
    plain = name.lower().replace("_", "")
    if function.startswith(("nccl", "rccl", "hccl")):
        return "communication"
    if any(word in name for word in ("ncclKernel", "ncclDevKernel", "cross_device_reduce")):
        return "communication"
    if any(word in plain for word in ("oneccl", "msccl", "nvshmem", "deepep")):
        return "communication"
    if any(word in plain for word in ("allreduce", "allgather", "reducescatter", "alltoall")):
        return "communication"
    if name.startswith(("Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma")):
        return "memory"
    if name.startswith(
        ("CopyDeviceToDevice", "__amd_rocclr_copyBuffer", "__amd_rocclr_fillBuffer")
    ):
        return "memory"
    return "computation"


@dataclass(slots=True)
class Span:
    event_id: int
    cat: str | None
    name: str | None
    pid: object
    tid: object
    start_ns: int
    end_ns: int
    args: dict


def in_order(span: Span) -> tuple:
    return span.start_ns, -span.end_ns, span.event_id


def around_each(outer: list[Span], spans: list[Span]) -> dict[int, int | None]:
    """Of each span the last of `outer` to begin before it that is open and ends no sooner."""
    found = {}
    waiting = sorted(outer, key=in_order, reverse=True)
    begun: list[Span] = []
    for span in sorted(spans, key=in_order):
        while waiting and in_order(waiting[-1]) < in_order(span):
            begun.append(waiting.pop())
        begun = [earlier for earlier in begun if not is_over(earlier, span)]
        found[span.event_id] = next(
            (one.event_id for one in reversed(begun) if one.end_ns >= span.end_ns), None
        )
    return found


def walked(spans: list[Span]):
    """Each span of one thread with its callers, outermost first.

    A span that outlives the one it began in ends that one's time on the stack.
    """
    stack: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start_ns, -s.end_ns, s.event_id)):
        while stack and (is_over(stack[-1], span) or stack[-1].end_ns < span.end_ns):
            stack.pop()
        yield span, list(stack)
        stack.append(span)


def is_over(earlier: Span, span: Span) -> bool:
    """Whether one has ended when the other begins; two empty ones at one instant nest."""
    both_empty = earlier.start_ns == earlier.end_ns == span.start_ns == span.end_ns
    return earlier.end_ns <= span.start_ns and not both_empty
