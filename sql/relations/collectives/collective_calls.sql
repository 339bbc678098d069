-- One row per kernel with which a rank communicates. The profiler gives these kernels the arguments
-- of a collective, a send or a receive.
--
-- `jobs`: the jobs to look at (NULL: all)
--
-- Numbers that cannot be are NULL.
--
-- reads: gpu_activities, possible_group_size, possible_rank, possible_size
CREATE OR REPLACE MACRO collective_calls(jobs) AS TABLE
SELECT
    a.job,
    a.rank,
    a.event_id,
    a.device,
    a.step,
    a.start_ns,
    a.dur_ns,
    a.computed_before_ns,
    a.hidden_ns,
    a.collective_name AS name,
    a.dtype,
    possible_size(a.in_nelems) AS in_nelems,
    possible_size(a.out_nelems) AS out_nelems,
    a.in_split_sizes,
    a.out_split_sizes,
    a.process_group_name AS process_group,
    a.process_group_desc,
    possible_group_size(a.group_size) AS group_size,
    a.process_group_ranks AS ranks_text,
    possible_rank(a.group_start_rank) AS group_start_rank,
    possible_rank(a.group_stride) AS group_stride,
    possible_rank(a.src_rank) AS src_rank,
    possible_rank(a.dst_rank) AS dst_rank,
    a.seq,
    a.comms_id
FROM gpu_activities AS a
WHERE a.collective_name <> ''
  AND a.kind = 'communication'
  AND (jobs IS NULL OR list_contains(jobs, a.job));

-- One row per rank and combination of the columns that describe its calls: the group, the peers,
-- the operation and the sizes. All calls that are equal in these columns share one row.
--
-- `jobs`: the jobs to look at (NULL: all)
--
-- has_comms_id is true if all calls of the row have a Comms Id. has_seq is true if all calls of the
-- row have a Seq.
CREATE OR REPLACE MACRO call_kinds(jobs) AS TABLE
SELECT
    job,
    rank,
    process_group,
    process_group_desc,
    group_size,
    ranks_text,
    src_rank,
    dst_rank,
    name,
    dtype,
    in_nelems,
    out_nelems,
    min(group_start_rank) AS group_start_rank,
    min(group_stride) AS group_stride,
    bool_and(comms_id IS NOT NULL) AS has_comms_id,
    bool_and(seq IS NOT NULL AND seq >= 0) AS has_seq
FROM collective_calls(jobs)
GROUP BY ALL;
