-- One row per call of an nn.Module on the ranks of `chosen`.
--
-- `chosen`: rank_number, job, rank and step_numbers (the steps to measure; NULL: all) of each rank.
-- `only_jobs` and `only_ranks`: jobs and ranks whose files are read (NULL: all).
--
-- The macro returns the calls of all steps, since a call's path in the model can depend on a call
-- in another step. is_picked is true if the call is in a step to measure. module_id is the event_id
-- of the module call around the call. `place` numbers the calls: a call has a higher number than
-- the calls around it.
--
-- reads: host_calls
CREATE OR REPLACE MACRO module_calls(chosen, only_jobs, only_ranks) AS TABLE
SELECT
    row_number() OVER (
        ORDER BY c.rank_number, o.start_ns, o.end_ns DESC, o.event_id
    ) AS place,
    c.rank_number,
    o.event_id,
    o.module_id,
    substring(o.name, length('nn.Module: ') + 1) AS name,
    coalesce(o.is_backward, false) AS is_backward,
    o.start_ns,
    o.end_ns,
    o.dur_ns,
    c.step_numbers IS NULL OR list_contains(c.step_numbers, o.step) AS is_picked
FROM host_calls AS o
JOIN query_table(chosen) AS c ON c.job = o.job AND c.rank = o.rank
WHERE o.cat = 'python_function'
  AND prefix(o.name, 'nn.Module: ')
  AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
  AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank));
