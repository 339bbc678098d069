"""The graphs of several ranks are made by the same statements; each rank has its own answer."""

import shutil

import pytest
from paths.conftest import PATH_QUERIES, call, kernel, op

import hta_sql
from hta_sql.critical_path import ranks
from hta_sql.critical_path.ranks import batches
from hta_sql.critical_path.windows import Window


def window(rank, event_count):
    return Window("j", rank, f"t{rank}", 0, 9, None, None, event_count)


def sizes(*event_counts):
    windows = [window(rank, count) for rank, count in enumerate(event_counts)]
    found = list(batches(windows))
    assert [w for batch in found for w in batch] == windows
    return [len(batch) for batch in found]


def test_small_ranks_share_a_batch_and_a_large_one_has_its_own():
    most = ranks.MOST_EVENTS
    assert sizes(1, 1, 1) == [3]
    assert sizes(2 * most) == [1]
    assert sizes(most // 2, most // 2, 1) == [2, 1]
    assert sizes(1, 2 * most, 1, 1) == [1, 1, 2]
    assert sizes(None, None) == [2]


def answers(run):
    tables = {name: getattr(run, name)().to_pylist() for name in PATH_QUERIES}
    tables["edges"] = run.sql(
        "SELECT * FROM path_edges ORDER BY job, rank, source_node, target_node, edge"
    ).to_pylist()
    return tables


@pytest.mark.parametrize("chosen", [{"step": 1}, {}])
def test_ranks_together_have_the_answers_of_ranks_alone(
    demo_archive, tmp_path, monkeypatch, chosen
):
    archive = shutil.copytree(demo_archive, tmp_path / "archive")
    found = []
    for most in (ranks.MOST_EVENTS, 0):
        monkeypatch.setattr(ranks, "MOST_EVENTS", most)
        done = []
        with hta_sql.open(archive) as run:
            computed = run.compute_critical_path(
                **chosen, progress=lambda job, *counts, done=done: done.append(counts)
            )
            found.append((computed, answers(run)))
        assert done == ([(0, 2), (2, 2)] if most else [(0, 2), (1, 2), (2, 2)])
    assert found[0] == found[1]
    assert len(found[0][1]["edges"]) > 1000


def test_a_circle_changes_only_its_own_rank(paths_of):
    #   Rank 0:  host    [b]    [==== wait ===)   [launch a]     a is launched after the wait for b,
    #            stream             [a)[= b =)                   which is after a.
    #   Rank 1:  host      [launch k]                            k begins before its launch, but
    #            stream  [k)                                     no edge leads back.
    for_b, for_a = call(1, "cudaLaunchKernel", 10, 5), call(3, "cudaLaunchKernel", 80, 5)
    for_k = call(1, "cudaLaunchKernel", 10, 5)
    wait = call(2, "cudaDeviceSynchronize", 30, 30)
    run = paths_of(
        ops=[
            *({**row, "rank": 0} for row in (for_b, wait, for_a)),
            {**for_k, "rank": 1},
            op(9, "aten::mm", 20, 40, rank=1),
        ],
        activities=[
            kernel(11, 40, 4, for_a, rank=0),
            kernel(12, 45, 13, for_b, rank=0),
            kernel(13, 5, 4, for_k, rank=1),
        ],
        ranks=(0, 1),
    )
    # The edges of rank 0 that go back: from a's launch to a, and from the window's start, whose
    # node has a high number, to the launch of b at the same instant.
    counts = run.sql("SELECT left_out_count FROM critical_paths").to_pylist()
    assert counts == [{"left_out_count": 2}]
    back = run.sql(
        "SELECT rank, source_event_id, target_event_id FROM path_edges WHERE start_ns > end_ns"
    ).to_pylist()
    assert back == [{"rank": 1, "source_event_id": 1, "target_event_id": 13}]
