-- Whether spans cross: then the first to end while one that it has called is still open is
-- outlived by it.
SELECT coalesce(bool_or(outlives_caller), false) AS is_crossing
FROM callers
