-- Whether a name fits a pattern. In the pattern, % stands for any text, also none. All other
-- characters stand for themselves, and case matters.
CREATE OR REPLACE MACRO is_named(name, pattern) AS
(name LIKE replace(replace(pattern, '\', '\\'), '_', '\_') ESCAPE '\') IS TRUE;
