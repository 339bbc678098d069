"""What spans inherit from the spans that they run in."""

from __future__ import annotations

import numpy as np

from hta_sql.ingestion.nesting import NOBODY, Nesting
from hta_sql.ingestion.open_spans import Columns

# The innermost span of each kind around a span; the kind's bit of `what` in 07_host_spans.sql.
KINDS = {"op_id": 1, "annotation_id": 2, "module_id": 4, "backward_id": 8}
BACKWARD = KINDS["backward_id"]
# What a span inherits from its caller, with the values if it has no caller.
NOTHING_INHERITED = {
    "depth": -1,
    "root_id": NOBODY,
    **dict.fromkeys(KINDS, NOBODY),
    "stack_hash": np.uint64(0),
}
# The columns among these that refer to other spans.
REFERENCES = ("root_id", *KINDS)


def inherit(spans: Columns, of: np.ndarray, parents: np.ndarray) -> None:
    """Let spans inherit from their callers, which have inherited already."""
    caller = parents[of]
    what = spans["what"][caller]
    spans["depth"][of] = spans["depth"][caller] + 1
    spans["root_id"][of] = np.where(caller == NOBODY, of, spans["root_id"][caller])
    for name, kind in KINDS.items():
        spans[name][of] = np.where(what & kind, caller, spans[name][caller])
    begins_backward = of[spans["what"][of] & BACKWARD > 0]
    spans["backward_id"][begins_backward] = begins_backward
    spans["stack_hash"][of] = spans["stack_hash"][caller] ^ own_hash(spans, of)


def inherit_one_by_one(spans: Columns, nesting: Nesting, before: int) -> None:
    """The same for the walked spans, each of which may call the next."""
    places = np.full(len(spans["number"]), NOBODY)
    places[nesting.walked] = np.arange(len(nesting.walked))
    callers = places[nesting.parents[nesting.walked]].tolist()
    # Going through Python lists one by one is faster than through arrays. Here, too, the last row
    # stands for NOBODY.
    rows = {
        name: spans[name][np.append(nesting.walked, NOBODY)].tolist()
        for name in ("what", *NOTHING_INHERITED)
    }
    what, depths, roots, hashes = (
        rows[name] for name in ("what", "depth", "root_id", "stack_hash")
    )
    kinds = [(kind, rows[name]) for name, kind in KINDS.items()]
    positions = nesting.walked.tolist()
    new = range(int(np.searchsorted(nesting.walked, before)), len(positions))
    for place in new:
        caller = callers[place]
        depths[place] = depths[caller] + 1
        roots[place] = positions[place] if caller == NOBODY else roots[caller]
        for kind, innermost in kinds:
            innermost[place] = positions[caller] if what[caller] & kind else innermost[caller]
        if what[place] & BACKWARD:
            rows["backward_id"][place] = positions[place]
    spans["depth"][nesting.walked] = depths[:NOBODY]
    own = own_hash(spans, nesting.walked).tolist()
    for place in new:
        hashes[place] = hashes[callers[place]] ^ own[place]
    for name in NOTHING_INHERITED:
        spans[name][nesting.walked] = np.array(rows[name][:NOBODY], spans[name].dtype)


def own_hash(spans: Columns, of: np.ndarray) -> np.ndarray:
    """What each span adds to the hash of its stack, from its name and depth, mixed like DuckDB's
    hash()."""
    mixed = spans["name_hash"][of] ^ (spans["depth"][of] + 1).astype(np.uint64)
    for _ in range(2):
        mixed ^= mixed >> np.uint64(32)
        mixed *= np.uint64(0xD6E8FEB86659FD93)
    return mixed ^ (mixed >> np.uint64(32))
