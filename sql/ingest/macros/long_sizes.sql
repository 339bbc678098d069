-- Arguments with at most three numbers in `grid` and in `block`. A kernel has no more, and longer
-- lists run out of memory once they are numbers. The text itself is edited, because a parser would
-- hold a second copy of it.
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
