"""Answers for many jobs: results that are stored a job each, queries done job by job."""
