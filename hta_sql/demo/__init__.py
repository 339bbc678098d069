"""A made-up training job: Kineto traces of every rank, and the truth about them.

The traces look like the ones PyTorch writes; `truth.json` holds the figures that an analysis of
them has to give, taken from the plan and never from the files. Parts: `workload` (the model being
trained), `records` (what a profiler would see), `process` (one rank: its threads and streams),
`plan` (the job: steps and collectives), `write` (how Kineto prints it), `truth`, `job`.
"""

__all__ = ["write_job"]


def __getattr__(name: str):
    if name in __all__:
        from hta_sql.demo.job import write_job

        return write_job
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
