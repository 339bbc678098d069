"""A synthetic training job: Kineto traces of all ranks, and the figures that analyses must give.

The traces look like those that PyTorch writes. `truth.json` has the figures that an analysis of
them must give; they come from the plan, never from the files. The modules are `workload` (the model
in training), `recipe` (what a rank does in a step), `faults` (how that can be worse), `records`
(what a profiler records), `threads`, `process` and `trainer` (one rank: its host threads, its
streams, its steps), `meetings` and `plan` (the job: collectives and steps), `write` (the format of
Kineto), `truth` and `job`.
"""

__all__ = ["write_job"]


def __getattr__(name: str):
    if name in __all__:
        from hta_sql.demo.job import write_job

        return write_job
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
