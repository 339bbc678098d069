"""Rows of annotations of real traces."""

from hta_cases import Case
from real_files import HTA_OUTPUTS

GPU_ANNOTATIONS = "(FROM events WHERE cat = 'gpu_user_annotation')"


def rows_of(run, query: str, job: str, steps=None, **given) -> list[dict]:
    return run.query(query, only_jobs=[job], only_steps=steps, **given).to_pylist()


def rows_of_case(run, query: str, case: Case, **given) -> list[dict]:
    return rows_of(run, query, case.job, case.steps and list(case.steps), **given)


def has(case: Case, method: str) -> bool:
    return (
        not case.last_step
        and (HTA_OUTPUTS / case.folder / "no_rounding" / f"{method}.csv").exists()
    )


KEPT_BY_HTA = """
    FROM events
    WHERE cat = 'gpu_user_annotation' AND job = 'ns_resolution'
      AND start_ns < (SELECT max(start_ns) FROM steps WHERE job = 'ns_resolution')
"""
