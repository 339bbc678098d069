-- The text of `args` with at most three numbers in the lists `grid` and `block`.
--
-- A kernel has at most three sizes in each list. DuckDB runs out of memory if it parses a much
-- longer list into numbers. The macro edits the text, because a parser would hold a second copy of
-- the text.
CREATE OR REPLACE MACRO without_long_sizes(args) AS
CASE
    WHEN strlen(args) > 4096
    THEN regexp_replace(
        args,
        '("(?:grid|block)"\s*:\s*\[[^,\[\]{}"]*,[^,\[\]{}"]*,[^,\[\]{}"]*),[^\[\]{}"]*\]',
        '\1]',
        'g'
    )
    ELSE args
END;
