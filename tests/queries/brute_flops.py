"""What operators compute and how fast, in plain Python over rows as the tables have them.

Call chains are climbed. Slow, and sharing nothing with the SQL.
"""

from collections import defaultdict
from fractions import Fraction

from queries.brute_flop_nests import BANDWIDTHS, PEAKS, Nest, on_tensor_cores, wanted
from queries.brute_ops import deviation, percentile


def op_flops(
    activities,
    ops,
    traces,
    only_jobs=None,
    only_ranks=None,
    only_steps=None,
    peak_tflops=None,
    peak_gbps=None,
    by_strides=False,
    strides=None,
    on_cores=on_tensor_cores,
):
    """`strides`: of calls by job, rank and event_id."""
    strides = strides if by_strides else {}
    nest = Nest(ops, only_jobs, only_ranks, only_steps, activities=activities)
    launched = defaultdict(list)
    for row in activities:
        if wanted(row, only_jobs, only_ranks) and row["op_id"] is not None:
            for call in nest.chain((row["job"], row["rank"], row["op_id"])):
                launched[call].append(row)
    groups = defaultdict(list)
    for key, mine in nest.costs.items():
        row = nest.ops[key]
        concrete = None if mine.family == "elementwise" else row["concrete_inputs"]
        groups[
            (
                *key[:2],
                row["name"],
                row["input_dims"],
                row["input_types"],
                concrete,
                nest.counts(key),
                strides.get(key),
            )
        ].append(key)
    device = {(row["job"], row["rank"]): row["device_name"] for row in traces}
    result = []
    for group, calls in groups.items():
        # With one shape, calls differ only in their contexts.
        of_calls = [nest.costs[call] for call in calls]
        mine = of_calls[0]
        flops, size = (
            None if None in values else sum(values)
            for values in ([one.flops for one in of_calls], [one.bytes for one in of_calls])
        )
        run = [call for call in calls if launched[call]]
        kernels = [row for call in run for row in launched[call]]
        ns = sum(row["dur_ns"] for row in kernels)
        call_times = [sum(row["dur_ns"] for row in launched[call]) for call in run]
        dtype = max((one.dtype for one in of_calls if one.dtype), default=None)
        if dtype == "float32" and any(on_cores(row["name"]) for row in kernels):
            dtype = "tf32"
        name = device.get(group[:2])
        peak = peak_tflops or PEAKS.get((name, dtype))
        memory = peak_gbps or BANDWIDTHS.get(name)
        times = {}
        if flops is not None and peak and size is not None and memory:
            times["compute"] = Fraction(flops, len(calls)) / (1000 * Fraction(peak))
        if size is not None and memory and (flops is None or times):
            times["memory"] = Fraction(size, len(calls)) / Fraction(memory)
        bound = "memory" if flops is None else None
        if times:
            bound = max(times, key=lambda way: (times[way], way == "memory"))
        is_estimated = any(one.is_estimated for one in of_calls)
        # The weights are not known.
        if mine.family == "mixture of experts" and flops is None and is_estimated:
            bound, times = None, {}
        per_ns = None if not ns else Fraction(len(run), ns)
        of_run = [nest.costs[call] for call in run]
        run_flops = None if flops is None else sum(one.flops for one in of_run)
        run_bytes = None if size is None else sum(one.bytes for one in of_run)
        if bound is None and not times and flops is None:
            run_bytes = None
        result.append(
            dict(
                zip(
                    (
                        "job",
                        "rank",
                        "name",
                        "input_dims",
                        "input_types",
                        "concrete_inputs",
                        "is_counted",
                        "input_strides",
                    ),
                    group,
                    strict=True,
                )
            )
            | {
                "family": mine.family,
                "dtype": dtype,
                "is_estimated": is_estimated,
                "count": len(calls),
                "flops": flops,
                "bytes": size,
                "launching_call_count": len(run),
                "kernel_count": len(kernels),
                "kernel_ns": ns,
                "achieved_tflops": rate(run_flops, 1000 * ns),
                "achieved_gbps": rate(run_bytes, ns),
                "arithmetic_intensity": None if flops is None or not size else flops / size,
                "bound": bound,
                "roofline_frac": float(max(times.values()) * per_ns) if times and per_ns else None,
                "kernel_min_ns": min(call_times, default=None),
                "kernel_p50_ns": percentile(call_times, 0.5),
                "kernel_p95_ns": percentile(call_times, 0.95),
                "kernel_max_ns": max(call_times, default=None),
                "kernel_stddev_ns": deviation(call_times),
            }
        )
    return sorted(
        result,
        key=lambda row: (
            row["job"],
            row["rank"],
            -row["kernel_ns"],
            row["name"],
            *((row[c] is None, row[c]) for c in ("input_dims", "input_types", "concrete_inputs")),
            row["is_counted"],
            (row["input_strides"] is None, row["input_strides"]),
        ),
    )


def rate(amount, ns):
    return None if amount is None or not ns else amount / ns


def grouped_by_rank(ops, only_jobs, only_ranks) -> dict[tuple, list[dict]]:
    """The annotations of each rank."""
    found = defaultdict(list)
    for row in ops:
        if row["cat"] == "user_annotation" and wanted(row, only_jobs, only_ranks):
            found[row["job"], row["rank"]].append(row)
    return found


def step_mfu(
    activities,
    ops,
    traces,
    only_jobs=None,
    only_ranks=None,
    only_steps=None,
    peak_tflops=None,
    on_cores=on_tensor_cores,
):
    marks = defaultdict(list)
    for row in ops:
        if (
            row["name"].startswith("ProfilerStep#")
            and row["cat"] != "python_function"
            and wanted(row, only_jobs, only_ranks)
        ):
            marks[row["job"], row["rank"], int(row["name"][13:])].append(row)
    for key, rows in grouped_by_rank(ops, only_jobs, only_ranks).items():
        of_servers = [row for row in rows if row["name"].startswith("execute_")]
        if not any(mark[:2] == key for mark in marks):
            of_servers.sort(key=lambda row: (row["start_ns"], row["event_id"]))
            marks.update({(*key, at): [row] for at, row in enumerate(of_servers)})
    with_steps = {key[:2] for key in marks}
    nest = Nest(ops, only_jobs, only_ranks, only_steps, with_bytes=False)
    device = {(row["job"], row["rank"]): row["device_name"] for row in traces}
    periods, of_call = defaultdict(list), defaultdict(list)
    for row in activities:
        key = row["job"], row["rank"]
        if not wanted(row, only_jobs, only_ranks, only_steps):
            continue
        if row["step"] is None and key in with_steps:
            continue
        call = None
        if row["op_id"] is not None:
            call = next((at for at in nest.chain((*key, row["op_id"])) if nest.counts(at)), None)
        if call and nest.costs[call].is_estimated:
            call = None
        periods[*key, row["device"], row["step"]].append((row, call))
        if call:
            of_call[call].append(row)
    work = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for call, rows in of_call.items():
        first = min(rows, key=lambda row: (row["start_ns"], row["event_id"]))
        dtype = nest.costs[call].dtype
        if dtype == "float32" and any(on_cores(row["name"]) for row in rows):
            dtype = "tf32"
        period = first["job"], first["rank"], first["device"], first["step"]
        work[period][dtype][nest.is_rerun(call)] += nest.costs[call].flops
    result = []
    for period, rows in periods.items():
        job, rank, dev, step = period
        if step is None:
            time = max(r["end_ns"] for r, _ in rows) - min(r["start_ns"] for r, _ in rows)
        else:
            spans = marks.get((job, rank, step))
            time = spans and max(r["end_ns"] for r in spans) - min(r["start_ns"] for r in spans)
        computing = [(r, call) for r, call in rows if r["kind"] == "computation"]
        computation = sum(r["dur_ns"] for r, _ in computing)
        modelled = sum(r["dur_ns"] for r, call in computing if call)
        formats = {dtype: both for dtype, both in work[period].items() if any(both)}
        peaks = {
            dtype: peak_tflops or PEAKS.get((device.get((job, rank)), dtype)) for dtype in formats
        }
        mfu = hfu = None
        if formats and all(peaks.values()) and time:
            mfu = float(
                sum(
                    Fraction(once) / (1000 * Fraction(peaks[dtype]))
                    for dtype, (once, _) in formats.items()
                )
                / time
            )
            hfu = float(
                sum(
                    Fraction(sum(both)) / (1000 * Fraction(peaks[dtype]))
                    for dtype, both in formats.items()
                )
                / time
            )
        flops = sum(once for once, _ in formats.values())
        result.append(
            {
                "job": job,
                "rank": rank,
                "device": dev,
                "step": step,
                "time_ns": time,
                "computation_ns": computation,
                "modelled_ns": modelled,
                "coverage_frac": modelled / computation if computation else None,
                "flops": flops,
                "recomputed_flops": sum(again for _, again in formats.values()),
                "achieved_tflops": flops / (1000 * time) if time else None,
                "mfu_frac": mfu,
                "hfu_frac": hfu,
            }
        )
    return sorted(
        result,
        key=lambda row: (
            row["job"],
            row["rank"],
            row["device"] is None,
            row["device"] or 0,
            row["step"] is None,
            row["step"] or 0,
        ),
    )
