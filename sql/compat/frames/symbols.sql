-- The names and categories of all spans, each with its short name.
WITH
spans AS (
    SELECT e.name, e.cat
    FROM recorded_events AS e
    WHERE e.dur_ns IS NOT NULL AND e.cat <> 'Trace'
)
SELECT symbol, short_name(symbol) AS short
FROM (
    SELECT name AS symbol FROM spans
    UNION
    SELECT cat AS symbol FROM spans
)
WHERE symbol IS NOT NULL
ORDER BY symbol
