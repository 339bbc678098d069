-- N of the name `ProfilerStep#N`, with any spacing and any text after it. NULL for other names.
CREATE OR REPLACE MACRO step_number(name) AS
CASE
    WHEN prefix(name, 'ProfilerStep')
    THEN TRY_CAST(regexp_extract(name, '^ProfilerStep\s*#\s*(\d+)\D*$', 1) AS BIGINT)
END;
