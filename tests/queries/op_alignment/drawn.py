"""Operators of two jobs, drawn."""


def drawn(text: str) -> dict:
    """Two jobs, a line for each row of the result: relation, operators of the base and of the
    test as name:shape>kernel+kernel, with - for none."""
    tables = {"host_ops": [], "gpu_activities": [], "traces": [{"job": "a"}, {"job": "b"}]}
    for number, line in enumerate(text.strip().splitlines()):
        for job, words in zip("ab", line.split()[1:3], strict=True):
            if words == "-":
                continue
            operator, _, kernels = words.partition(">")
            name, _, shape = operator.partition(":")
            tables["host_ops"].append(
                {
                    "job": job,
                    "event_id": number,
                    "name": name,
                    "input_dims": shape or None,
                    "start_ns": 100 * number,
                    "dur_ns": 10 + number + (5 if job == "b" else 0),
                }
            )
            tables["gpu_activities"] += [
                {
                    "job": job,
                    "event_id": 1000 * number + i,
                    "op_id": number,
                    "name": f"void {k}()",
                    "short_name": k,
                    "start_ns": 100 * number + 9 * i,
                    "dur_ns": 7,
                }
                for i, k in enumerate(filter(None, kernels.split("+")))
            ]
    return tables


def aligned(small, text: str, **parameters) -> list[dict]:
    """The rows, once they are known to be as drawn."""
    small.fill(**drawn(text))
    rows = small.run("op_alignment", **parameters)
    assert small.broken_promises("op_alignment", **parameters) == []
    wanted = []
    for line in text.strip().splitlines():
        relation, *names = line.split()[:3]
        wanted.append(
            (
                relation,
                *(
                    None if name == "-" else name.partition(">")[0].partition(":")[0]
                    for name in names
                ),
            )
        )
    assert [(row["relation"], row["base_name"], row["test_name"]) for row in rows] == wanted
    return rows
