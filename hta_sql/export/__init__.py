"""Writes traces with query results, in Chrome's trace format, for Perfetto.

`file` writes the file, `choice` finds the job and ranks, `perfetto` writes ranks side by side,
`critical_path` marks a critical path, and `sequences` marks kernel sequences. The SQL in sql/export
defines what is written.
"""
