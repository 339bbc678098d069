-- A data file's job and rank, from its path: <table>/job=<job>/rank=<rank>/<id>.parquet, or
-- <table>/job=<job>/ranks/<id>.parquet if it holds several ranks.
--
-- DuckDB's own parsing of such folders is not used: it would also parse the folders above the
-- archive.

CREATE OR REPLACE MACRO job_of_file(path) AS
url_decode(regexp_extract(path, 'job=([^/\\]*)[/\\]rank(s|=\d+)[/\\][^/\\]*$', 1));

CREATE OR REPLACE MACRO rank_of_file(path) AS
CAST(regexp_extract(path, 'rank=(\d+)[/\\][^/\\]*$', 1) AS INTEGER);
