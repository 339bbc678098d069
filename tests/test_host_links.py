"""Forward and backward operators."""

from hand_written import ingested, rows, span, trace_text
from host_links import ENGINE, links


def forward(name: str, ts: float, dur: float, number: int, tid: int = 1) -> dict:
    return span(name, ts, dur, tid=tid, **{"Sequence number": number, "Fwd thread id": 0})


def backward(name: str, ts: float, dur: float, number: int, of: int = 1, tid: int = 2) -> dict:
    return span(name, ts, dur, tid=tid, **{"Sequence number": number, "Fwd thread id": of})


def test_forward_is_the_last_to_carry_the_number(tmp_path):
    # What an operator calls carries its number too, until one of them takes it.
    found = links(
        tmp_path,
        [
            forward("linear", 0, 30, 7),
            forward("t", 2, 5, 7),
            forward("addmm", 10, 15, 8),
            span("cudaLaunchKernel", 12, 1, "cuda_runtime"),
            backward("addmm engine", 100, 20, 8),
            backward("AddmmBackward0", 102, 16, 8),
            span("mm", 104, 5, tid=2),
            span("cudaLaunchKernel in mm", 105, 1, "cuda_runtime", tid=2),
            backward("t engine", 130, 20, 7),
            # The same number again, after its backward pass.
            forward("relu", 200, 5, 8),
        ],
        "forward_id",
    )
    assert found == {
        "linear": None,
        "t": None,
        "addmm": None,
        "cudaLaunchKernel": None,
        "relu": None,
        "addmm engine": "addmm",
        "AddmmBackward0": "addmm",
        "mm": "addmm",
        "cudaLaunchKernel in mm": "addmm",
        "t engine": "t",
    }


def test_what_is_backward(tmp_path):
    archive = ingested(
        tmp_path,
        trace_text(
            [
                forward("linear", 0, 30, 7),
                backward("engine", 100, 50, 7),
                span("mm", 110, 5, tid=2),
                span("launch", 111, 1, "cuda_runtime", tid=2),
                # Has no number: the engine's name tells.
                span(ENGINE + "torch::autograd::AccumulateGrad", 200, 20, tid=2),
                span("add_", 205, 5, tid=2),
                span("after", 300, 5, tid=2),
            ]
        ),
    )
    columns = "name, is_backward, forward_id"
    assert rows(archive, f"SELECT {columns} FROM host_ops ORDER BY event_id") == [
        ("linear", False, None),
        ("engine", True, 0),
        ("mm", True, 0),
        ("launch", True, 0),
        (ENGINE + "torch::autograd::AccumulateGrad", True, None),
        ("add_", True, None),
        ("after", False, None),
    ]


def test_the_innermost_backward_pass_counts(tmp_path):
    # A checkpoint computes its forward again, inside its backward pass, and goes back through it.
    found = links(
        tmp_path,
        [
            forward("checkpoint", 0, 30, 3),
            backward("CheckpointBackward", 100, 90, 3),
            forward("gelu again", 110, 20, 50, tid=2),
            span("kernel of gelu", 112, 2, "cuda_runtime", tid=2),
            backward("GeluBackward0", 150, 30, 50, of=2),
            span("gelu_backward", 155, 5, tid=2),
        ],
        "forward_id",
    )
    assert found == {
        "checkpoint": None,
        "CheckpointBackward": "checkpoint",
        "gelu again": "checkpoint",
        "kernel of gelu": "checkpoint",
        "GeluBackward0": "gelu again",
        "gelu_backward": "gelu again",
    }


def flow(ph: str, ts: float, tid: int, number: int) -> dict:
    return {
        "ph": ph,
        "cat": "fwdbwd",
        "name": "fwdbwd",
        "id": number,
        "pid": 1,
        "tid": tid,
        "ts": ts,
        "bp": "e",
    }


def ties(folder, events: list[dict]) -> dict[str, str]:
    return {name: to for name, to in links(folder, events, "forward_id").items() if to}


def replicas(*tids: int) -> list[dict]:
    """Threads that use the same numbers; autograd's ids of them are not those of the system."""
    return [forward(f"op {n} of {tid}", 10 * n, 5, n, tid) for tid in tids for n in (1, 2, 3)]


def test_threads_count_for_themselves(tmp_path):
    events = [*replicas(11, 12), forward("op 4 of 12", 40, 5, 4, 12)]
    events += [backward(f"back {n} to 12", 100 + 10 * n, 5, n, of=6) for n in (4, 3, 2)]
    # Number 4 is only known to thread 12, so it is 6's.
    assert ties(tmp_path, events) == {
        "back 4 to 12": "op 4 of 12",
        "back 3 to 12": "op 3 of 12",
        "back 2 to 12": "op 2 of 12",
    }


def test_each_thread_is_one(tmp_path):
    """What is computed again in a backward pass has numbers that the main thread has used, too."""
    assert ties(
        tmp_path,
        [
            forward("embedding", 0, 5, 0),
            forward("checkpoint", 10, 5, 1),
            forward("mm", 20, 5, 2),
            backward("MmBackward0", 100, 5, 2),
            backward("CheckpointBackward", 110, 80, 1),
            forward("addmm again", 120, 5, 0, tid=2),
            forward("relu again", 130, 5, 1, tid=2),
            backward("ReluBackward0", 140, 5, 1, of=2),
            backward("AddmmBackward0", 150, 5, 0, of=2),
            backward("EmbeddingBackward0", 200, 5, 0),
        ],
    ) == {
        "MmBackward0": "mm",
        "CheckpointBackward": "checkpoint",
        "addmm again": "checkpoint",
        "relu again": "checkpoint",
        "ReluBackward0": "relu again",
        "AddmmBackward0": "addmm again",
        "EmbeddingBackward0": "embedding",
    }


def test_flows_tell_threads_apart(tmp_path):
    events = replicas(11, 12)
    events += [
        backward(f"back {n} of {of}", 100 * of + 10 * n, 5, n, of)
        for of in (1, 2)
        for n in (3, 2, 1)
    ]
    # From thread 12 to what is of 1, and thus from 11 to what is of 2.
    arrow = [flow("s", 20, 12, 7), flow("f", 120, 2, 7)]
    assert ties(tmp_path, [*events, *arrow]) == {
        f"back {n} of {of}": f"op {n} of {tid}" for of, tid in ((1, 12), (2, 11)) for n in (1, 2, 3)
    }


def test_where_two_threads_would_do_it_is_neither(tmp_path):
    events = replicas(11, 12)
    events += [backward(f"back {n}", 100 + 10 * n, 5, n) for n in (3, 2, 1)]
    assert ties(tmp_path, events) == {}


def test_a_forward_operator_outside_of_the_window_is_none(tmp_path):
    found = links(
        tmp_path, [backward("MmBackward0", 0, 5, 9), forward("mm", 50, 5, 9)], "forward_id"
    )
    assert found == {"MmBackward0": None, "mm": None}


def test_flows_serve_where_there_are_no_numbers(tmp_path):
    events = [
        span("linear", 0, 30),
        span("addmm", 10, 5),
        flow("s", 10, 1, 1),
        flow("f", 100, 2, 1),
        span("outer", 100, 20, tid=2),
        span("inner", 100, 15, tid=2),
        span("other", 100, 5, tid=3),
        flow("s", 0, 1, 2),
        flow("f", 130, 2, 2),
        span("last", 130, 5, tid=2),
        flow("s", 0, 1, 3),
        flow("f", 777, 2, 3),  # to nothing
    ]
    found = links(tmp_path, events, "forward_id")
    assert found == {
        "linear": None,
        "addmm": None,
        "outer": "addmm",
        "inner": "addmm",
        "other": None,
        "last": "linear",
    }
