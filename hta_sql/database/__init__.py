"""Archives inside DuckDB: the template of all macros, attached files, the shell."""
