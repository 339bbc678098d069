"""Marks of steps, as ingest finds them in traces of servers."""

DECODE = "execute_{0}_context_0(sq0sk0sqsq0sqsk0)_generation_{0}(sq{1}sk{2}sqsq{1}sqsk{2})"
PREFILL = "execute_{1}_context_{0}(sq{1}sk{2}sqsq{1}sqsk{2})_generation_0(sq0sk0sqsq0sqsk0)"


def mark(step: int, name: str, start: int, end: int, rank: int = 0) -> dict:
    return {
        "job": "j",
        "rank": rank,
        "step": step,
        "step_name": name,
        "marked_by": "vLLM",
        "event_id": step,
        "pid": "1",
        "tid": "1",
        "start_ns": start,
        "dur_ns": end - start,
        "end_ns": end,
    }


def fill(gpu, marks: list[dict], activities: list[dict]) -> None:
    gpu.fill(activities)
    gpu.con.execute("CREATE OR REPLACE TEMP TABLE given_marks AS FROM step_marks_schema()")
    for row in marks:
        names = ", ".join(row)
        values = ", ".join("?" * len(row))
        gpu.con.execute(f"INSERT INTO given_marks ({names}) VALUES ({values})", list(row.values()))
    gpu.con.execute("CREATE OR REPLACE TEMP VIEW step_marks AS FROM given_marks")
