-- One row per process group of a job, numbered within the job.
--
-- `jobs`: the jobs to look at (NULL: all)
--
-- Returns job, group_number, process_group, process_group_desc, group_size, ranks, ranks_source,
-- ranks_text and is_ambiguous. group_size is member_total of known_groups. The other columns are as
-- in known_groups. If a group has several rows in known_groups, each column has the least value.
-- Then is_ambiguous is true if it is true in one of these rows.
--
-- Archives store the rows of groups_v1. If a column gets another meaning, the macro needs a new
-- version.
--
-- reads: call_kinds, known_groups
CREATE OR REPLACE MACRO groups_v1(jobs := NULL) AS TABLE
WITH
kinds AS MATERIALIZED (
    FROM call_kinds(jobs)
)
SELECT
    job,
    group_number,
    min(process_group) AS process_group,
    min(process_group_desc) AS process_group_desc,
    min(member_total) AS group_size,
    min(ranks) AS ranks,
    min(ranks_source) AS ranks_source,
    min(ranks_text) AS ranks_text,
    bool_or(is_ambiguous) AS is_ambiguous
FROM known_groups(kinds, jobs)
GROUP BY job, group_number;
