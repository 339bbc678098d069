"""What is left without a job."""

HOUR_NS = 3_600_000_000_000
