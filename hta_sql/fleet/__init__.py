"""Queries on many jobs: results stored for each job, and queries computed job by job."""
