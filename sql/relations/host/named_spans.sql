-- The host operations of some jobs and ranks. is_named says whether the name fits `of_name`.
--
-- A span of no duration is open until its instant is over, as in host_ops. So until_ns is its end
-- and 1 ns.
--
-- reads: host_ops, is_named
CREATE OR REPLACE MACRO named_spans(of_name, jobs, ranks) AS TABLE
SELECT
    h.job,
    h.rank,
    h.event_id,
    h.pid,
    h.tid,
    h.root_id,
    h.caller_id,
    h.cat,
    h.name,
    h.step,
    h.start_ns,
    h.dur_ns,
    h.end_ns,
    greatest(h.end_ns, h.start_ns + 1) AS until_ns,
    is_named(h.name, of_name) AS is_named
FROM host_ops AS h
WHERE (jobs IS NULL OR list_contains(jobs, h.job))
  AND (ranks IS NULL OR list_contains(ranks, h.rank));

-- The times that say which spans come before or after others.
CREATE OR REPLACE MACRO times_of_spans(of_name, jobs, ranks) AS TABLE
SELECT job, rank, event_id, start_ns, until_ns, is_named
FROM named_spans(of_name, jobs, ranks);
