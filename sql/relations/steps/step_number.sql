-- The number N in a name `ProfilerStep#N`. NULL for other names.
--
-- Blanks may stand around the `#`. Text without digits may follow N.
CREATE OR REPLACE MACRO step_number(name) AS
CASE
    WHEN prefix(name, 'ProfilerStep')
    THEN TRY_CAST(regexp_extract(name, '^ProfilerStep\s*#\s*(\d+)\D*$', 1) AS BIGINT)
END;
