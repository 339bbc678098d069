-- The names of the operators that launched activities: job, rank, op_id and operator_name.
--
-- op_id is as in gpu_activities: the event_id of the innermost operator around a launch.
-- `jobs` and `ranks`: the operators to read (NULL: all).
--
-- reads: host_calls, is_operator
CREATE OR REPLACE MACRO operator_names_of(jobs, ranks) AS TABLE
SELECT o.job, o.rank, o.event_id AS op_id, o.name AS operator_name
FROM host_calls AS o
WHERE (jobs IS NULL OR list_contains(jobs, o.job))
  AND (ranks IS NULL OR list_contains(ranks, o.rank))
  AND is_operator(o.cat);
