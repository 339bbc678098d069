-- Arguments in which `grid` and `block` have three numbers at most: a kernel has no more, and
-- longer lists run out of memory once they are numbers. Done to the text, since a parser would hold
-- it all once more.
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
