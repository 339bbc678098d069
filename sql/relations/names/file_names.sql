-- Macros that return the job and the rank of a data file, from its path.
--
--     one rank       <table>/job=<job>/rank=<rank>/<id>.parquet
--     several ranks  <table>/job=<job>/ranks/<id>.parquet
--
-- DuckDB can parse such folders itself. But DuckDB would also parse the folders above the archive.
-- The views therefore set hive_partitioning to false.

-- The job. Empty if the path is not the path of a data file.
CREATE OR REPLACE MACRO job_of_file(path) AS
url_decode(regexp_extract(path, 'job=([^/\\]*)[/\\]rank(s|=\d+)[/\\][^/\\]*$', 1));

-- The rank of a file with one rank. Raises an error for other paths.
CREATE OR REPLACE MACRO rank_of_file(path) AS
CAST(regexp_extract(path, 'rank=(\d+)[/\\][^/\\]*$', 1) AS INTEGER);
