"""Which hta_sql this is, and which tables it writes."""

__version__ = "0.1.0"

# Of the tables that ingest writes: raised when one of their files in sql/tables changes. Archives
# say theirs in traces.parquet, so that old ones are read with missing columns as NULL.
SCHEMA_VERSION = 8
