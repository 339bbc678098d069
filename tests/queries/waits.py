"""The query that tells of waits."""

QUERY = "sync_points"


SEEDS = range(4)


JOBS = 25  # in one table, so that a few hundred small cases cost a few dozen calls


UNIX = 1_776_115_350_000_000_000


# Calls of every kind in test_random_calls, and a few that real traces have.
WAITS = ["cudaStreamSynchronize", "urQueueFinish", "synchronizeStream"]


SYNCHRONOUS = ["cudaMemcpy", "hipMemcpyWithStream"]
