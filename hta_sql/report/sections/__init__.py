"""A module a section of the report.

Each has a TITLE, a PLACE among the others (the lowest first) and `parts(subject)`, which yields its
facts, texts, charts and tables. One that yields nothing is left out.
"""
