"""Sections of the report, one per module.

Each module has a TITLE, a PLACE (the lowest comes first) and `parts(subject)`, which yields facts,
texts, charts and tables. A section that yields nothing is left out. With IS_OPEN = True, a section
shows its parts when the page opens. LINK is a shorter title for the line of links at the top.
"""
