"""Made-up jobs with a fault of collectives, or of one rank: what is in their traces."""

import json
from collections import Counter

import pytest
from made_jobs.planted import dur

RANKS, STEPS, LAYERS = 2, 3, 2


def transfers(ranks, name):
    """How long each collective of a name takes on the rank that comes last, with its elements."""
    members = {}
    for rank in ranks:
        for kernel in rank.kernels:
            if kernel["args"].get("Collective name") == name:
                key = kernel["args"]["Process Group Ranks"], kernel["args"]["Seq"]
                members.setdefault(key, []).append(kernel)
    assert all(len(kernels) == RANKS for kernels in members.values())
    return [
        (min(map(dur, kernels)), kernels[0]["args"]["In msg nelems"])
        for _, kernels in sorted(members.items())
    ]


def test_exposed_communication(planted):
    ranks, [fault] = planted("exposed_communication")
    large = transfers(ranks, fault["collective"])
    usual = transfers(planted()[0], fault["collective"])
    assert len(large) == len(usual) == STEPS * LAYERS
    speeds = [size / ns for ns, size in (*large, *usual)]
    assert max(speeds) < 1.05 * min(speeds)
    assert min(large)[0] > 5 * max(usual)[0]
    for rank in ranks:
        for kernel in rank.kernels:
            if kernel["args"].get("Collective name") == fault["collective"]:
                computed = [
                    min(k["end"], kernel["end"]) - max(k["start"], kernel["start"])
                    for k in rank.kernels
                    if k["kind"] == "computation"
                    and k["start"] < kernel["end"]
                    and kernel["start"] < k["end"]
                ]
                assert sum(computed) < 0.3 * dur(kernel)


def test_slow_collectives(planted):
    ranks, [fault] = planted("slow_collectives")
    times = transfers(ranks, fault["collective"])
    assert len({size for _, size in times}) == 1
    # In each step, the first one is as fast as in the healthy job, and the last one is not.
    fast, slow = ([ns for ns, _ in times[at::LAYERS]] for at in range(LAYERS))
    assert max(fast) < 1.1 * min(fast)
    assert min(slow) > 10 * max(fast)


def test_small_collectives(planted):
    ranks, [fault] = planted("small_collectives")
    small = [ns for ns, size in transfers(ranks, fault["collective"]) if 2 * size == 65_536]
    assert len(small) > 50 * STEPS and len(small) % STEPS == 0
    assert 20_000 < min(small) and max(small) < 30_000


def test_straggler(planted):
    ranks, [fault] = planted("straggler")
    assert fault["ranks"] == [1]
    healthy, slow = (
        sum(dur(kernel) for kernel in rank.kernels if kernel["kind"] == "computation")
        for rank in ranks
    )
    assert slow == pytest.approx(1.25 * healthy, rel=0.02)


def test_load_imbalance(planted):
    ranks, [fault] = planted("load_imbalance")
    assert fault["ranks"] == [1]
    few, many = (sum(map(dur, rank.kernels_of(fault["operator"]))) for rank in ranks)
    assert many == pytest.approx(3 * few, rel=0.05)
    usual = [sum(dur(k) for k in rank.kernels if k["name"] != fault["kernel"]) for rank in ranks]
    # The other rank waits in its collectives.
    assert usual[0] - usual[1] > 0.9 * (many - few)


def test_expert_imbalance(planted):
    ranks, [fault] = planted("expert_imbalance")
    assert fault["ranks"] == [1]
    few, many = (sum(map(dur, rank.kernels_of(fault["operator"]))) for rank in ranks)
    assert many == pytest.approx(3 * few, rel=0.05)
    exchanged = []
    for rank in ranks:
        args = [
            k["args"] for k in rank.kernels if k["args"].get("Collective name") == "all_to_allv"
        ]
        assert len(args) == 2 * STEPS * LAYERS
        for each in args:
            sent, received = json.loads(each["In split size"]), json.loads(each["Out split size"])
            assert (sum(sent), sum(received)) == (each["In msg nelems"], each["Out msg nelems"])
        exchanged.append([(json.loads(each["In split size"]), each) for each in args])
    for at, other in ((0, 1), (1, 0)):
        for (sent, _), (_, there) in zip(exchanged[at], exchanged[other], strict=True):
            assert sent[other] == json.loads(there["Out split size"])[at]
    there, back = (exchanged[0][at][0] for at in (0, 1))
    assert there[1] == pytest.approx(3 * there[0], rel=0.01) and back[0] == back[1] == there[0]


def test_pipeline_bubble(planted):
    ranks, [fault] = planted("pipeline_bubble", ranks=3)
    messages = Counter()
    for number, rank in enumerate(ranks):
        for kernel in rank.kernels:
            name = kernel["args"].get("Collective name")
            if name in ("send", "recv"):
                ends = kernel["args"]["Src Rank"], kernel["args"]["Dst Rank"]
                assert number == ends[name == "recv"]
                messages[name, *ends] += 1
    pairs = [(0, 1), (1, 2), (2, 1), (1, 0)]
    assert messages == {(way, *pair): STEPS * LAYERS for way in ("send", "recv") for pair in pairs}

    def until_first(rank, step, name):
        """From the step's begin to the first computation of a layer after a message's end."""
        at = [
            kernel["end"]
            for kernel in rank.kernels
            if kernel["args"].get("Collective name") == name
            and step["start"] < rank.launch(kernel)["start"] < step["end"]
        ]
        return min(at)

    # The second stage gets nothing before the first one has computed all micro-batches.
    for step, computed in zip(ranks[1].steps, last_forward(ranks[0]), strict=True):
        offset = step["start"] - ranks[1].steps[0]["start"]
        assert offset >= 0 and until_first(ranks[1], step, "recv") - step["start"] > computed


def last_forward(rank):
    """For each step: how long after its begin the last forward attention of the rank ends."""
    for step in rank.steps:
        kernels = [
            kernel["end"]
            for kernel in rank.kernels_of("aten::_flash_attention_forward")
            if step["start"] < rank.launch(kernel)["start"] < step["end"]
        ]
        assert len(kernels) == LAYERS
        yield max(kernels) - step["start"]
