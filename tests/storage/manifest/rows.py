"""Rows of manifests."""

from hta_sql.store.manifest import Manifest


def trace(rank: int, trace_id: str, job: str = "j", file_id: str | None = None) -> dict:
    return {
        "job": job,
        "rank": rank,
        "trace_id": trace_id,
        "file_id": file_id or trace_id,
        "path": f"{job}/{rank}.json",
    }


def held(archive) -> dict[tuple, tuple]:
    return {
        (row["job"], row["rank"]): (row["trace_id"], row["file_id"])
        for row in Manifest(archive).rows()
    }
