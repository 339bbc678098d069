-- One row per line of a text in which each line is a rule: place (the line's number) and rule (its
-- words: category, pattern and example, with two blanks or more between them).
--
-- Lines that begin with `--` are comments. DuckDB binds a text ten times faster than hundreds of
-- rows of constants, and each query that reads the rules binds them.
CREATE OR REPLACE MACRO rules_in_text(written) AS TABLE
SELECT place, string_split_regex(line, '  +') AS rule
FROM (
    SELECT unnest(lines) AS line, generate_subscripts(lines, 1) AS place
    FROM (SELECT string_split(written, chr(10)) AS lines)
)
WHERE line <> '' AND NOT starts_with(line, '--');
