-- The strides of the inputs of operators: job, rank, event_id, and input_strides, as JSON.
--
-- host_ops does not have them, so they are read from events. Operators in replays of a graph have
-- none.
--
-- `wanted`: whether they are needed. If not, nothing is read.
-- `jobs` and `ranks`: the operators to read (NULL: all).
--
-- reads: events, is_operator
CREATE OR REPLACE MACRO input_strides_of(wanted, jobs, ranks) AS TABLE
SELECT
    e.job,
    e.rank,
    e.event_id,
    json_extract_string(e.args, '$."Input Strides"') AS input_strides
FROM events AS e
WHERE wanted
  AND (jobs IS NULL OR list_contains(jobs, e.job))
  AND (ranks IS NULL OR list_contains(ranks, e.rank))
  AND is_operator(e.cat);
