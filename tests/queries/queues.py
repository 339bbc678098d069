"""Queries of queues."""

QUERIES = ("queue_length_series", "queue_length_summary", "queue_full_time")
