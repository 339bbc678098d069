"""`python -m hta_sql.cli` is `hta-sql`."""

from hta_sql.cli.program import main

main()
