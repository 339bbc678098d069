"""Rows of operators of real traces."""

KERNEL_COLUMNS = ("num_kernels", "kernel_dur_sum_ns", "kernel_span_ns")


def rows_of(run, query, trace, **given) -> list[dict]:
    only = {"only_jobs": [trace.job], "only_ranks": [trace.rank]}
    return run.query(query, **only, **given).to_pylist()
