-- What a window would take if something were otherwise, a row an assumption.
CREATE OR REPLACE MACRO what_if_times_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::VARCHAR AS path_window,
    NULL::VARCHAR AS scenario,           -- name of the file in sql/critical_path/what_if
    NULL::VARCHAR AS subject,            -- name or rank that is changed; NULL: all
    NULL::DOUBLE AS factor,              -- by which it is faster
    NULL::BIGINT AS edge_count,          -- edges of the graph that change
    NULL::BIGINT AS step_ns,             -- what the window takes as recorded
    NULL::BIGINT AS new_step_ns,         -- and would take
    NULL::VARCHAR AS method              -- what is assumed
WHERE false;

CREATE OR REPLACE VIEW what_if_times AS
FROM what_if_times_schema();
