"""Runs as columns of a drawing, in the order in which they began; rows are a kernel's times."""

from queries.small_tables import parsed, value_of


def fill(compare, text, host_ops=(), **traces):
    """One activity in each run for each kernel, outside of steps. `traces` are columns of all."""
    names, *rows = [line.split() for line in text.splitlines() if line.strip()]
    jobs = [job for job in names if job != "name"]
    activities = []
    for at, job in enumerate(jobs, start=1):
        start_ns = 0
        for row in rows:
            if (dur_ns := value_of(row[at], "BIGINT")) is not None:
                activities.append(
                    {"job": job, "name": row[0], "start_ns": start_ns, "dur_ns": dur_ns}
                )
                start_ns += dur_ns
    told = [{"job": job, "start_ns": 100 * at} | traces.get(job, {}) for at, job in enumerate(jobs)]
    compare.fill(gpu_activities=activities, traces=told, host_ops=list(host_ops))


def rows_of(compare, query, kind="kernel", **parameters):
    assert compare.broken_promises(query, **parameters) == []
    return [row for row in compare.run(query, **parameters) if row["kind"] == kind]


def expect(compare, query, text, kind="kernel", **parameters):
    """Compare the columns that `text` names, in the rows of a kind."""
    columns = {column.name: column.type for column in compare.query(query).columns}
    wanted = parsed(text, columns)
    rows = rows_of(compare, query, kind, **parameters)
    shown = text.split("\n")[1].split()
    assert [{name: row[name] for name in shown} for row in rows] == wanted


def changes(compare, **parameters):
    return {row["name"]: row["change"] for row in rows_of(compare, "regressions", **parameters)}


def earlier(compare, **parameters):
    """The first and the last run before the newest, and how many, by both queries."""
    of_baseline = {
        (row["first_job"], row["last_job"], row["run_count"])
        for row in rows_of(compare, "baseline", **parameters)
    }
    of_newest = {row["run_count"] for row in rows_of(compare, "regressions", **parameters)}
    [(first, last, count)] = of_baseline
    assert of_newest == {count}
    return first, last, count


# Student's t

# As the query has them, so that whole nanoseconds can be compared; by degrees of freedom.
QUANTILES = dict(
    enumerate(
        [636.62, 31.6, 12.925, 8.611, 6.869, 5.959, 5.408, 5.042, 4.781, 4.587, 4.437, 4.318],
        start=1,
    )
)
