"""Archives in DuckDB: the template with all macros, the views of the files, and the shell."""
