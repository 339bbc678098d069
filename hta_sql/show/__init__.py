"""Output of results for people and machines: tables, units, formats and notebooks."""
