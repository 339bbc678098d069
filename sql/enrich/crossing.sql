-- Whether spans cross: then one of them ends on another level than it began on, since something
-- that began after it is still open.
SELECT open_hash <> 0 AS is_crossing
FROM moments
ORDER BY place DESC
LIMIT 1
