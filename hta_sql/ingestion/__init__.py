"""Traces to an archive: find, tell ranks, read in parallel, publish one file at a time."""
