-- A data file's job and rank, from its path <table>/job=<job>/rank=<rank>/<id>.parquet, or
-- <table>/job=<job>/ranks/<id>.parquet where it holds several ranks.
--
-- Not by DuckDB's own reading of such folders: it would take those above the archive for more.

CREATE OR REPLACE MACRO job_of_file(path) AS
url_decode(regexp_extract(path, 'job=([^/\\]*)[/\\]rank(s|=\d+)[/\\][^/\\]*$', 1));

CREATE OR REPLACE MACRO rank_of_file(path) AS
CAST(regexp_extract(path, 'rank=(\d+)[/\\][^/\\]*$', 1) AS INTEGER);
