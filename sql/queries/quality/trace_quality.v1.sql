-- What is wrong with the traces or missing in them, and which results that weakens.
--
-- A row says one thing about one rank, or about a job as a whole (rank is NULL). A job whose traces
-- have nothing wrong and nothing missing has no row. With the severity `warning`, numbers of the
-- queries in `weakens` can be wrong. With the severity `info`, something is missing, so that these
-- queries have less to say, or its share is too small to matter.
--
--     check                         count and share_frac
--     incomplete_trace              damaged files of the rank, of all
--     quarantined_events            events that could not be read, of all
--     clamped_times                 NULL. The first event has the base time of
--                                   the trace's clock
--     no_gpu_activities             launches, none of which has an activity
--     unlinked_kernels              GPU activities without a launch; share of
--                                   GPU time
--     launches_without_kernel       launches without an activity before the
--                                   first or after the last one with an
--                                   activity, of all
--     dropped_buffers               launches without an activity in between,
--                                   of all
--     overlap_on_stream             GPU activities that begin before the one
--                                   before them on their stream has ended;
--                                   share of GPU time that counts twice,
--                                   without graphs and launches that may
--                                   begin early
--     no_gap_on_stream              GPU activities that end where the next on
--                                   their stream begins; share of GPU time
--     impossible_times              GPU activities that begin before their
--                                   launch, end before they begin, or are an
--                                   hour from everything on the host, of all
--     impossible_numbers            GPU activities with sizes or numbers of ranks that
--                                   cannot be, of all
--     cut_window                    the first or last step without GPU
--                                   activity, of all steps
--     work_outside_steps            GPU activities launched outside of steps;
--                                   share of GPU time
--     graph_kernels                 GPU activities of graph launches; share of
--                                   GPU time
--     thinned_out                   runtime calls of a trace that has less than one
--                                   in 100 of their numbers; of all numbers
--     crossing_spans                host spans that cross others, of all
--     missing_steps                 NULL. There are no steps
--     missing_shapes                operator calls, none of which has shapes
--     missing_stacks                NULL. There are no Python functions
--     missing_sequence_numbers      operator calls of a trace with a backward
--                                   pass, none of which has a sequence number
--     missing_collective_arguments  communication kernels without arguments;
--                                   share of communication time
--     missing_collective_numbers    collectives without Seq and Comms Id, of
--                                   all communication kernels
--     unpaired_collectives          collectives that another rank of their
--                                   group in the archive lacks, of all
--     missing_device_name           NULL. The trace does not name its GPU
--     unknown_device                NULL. device_peaks does not have the GPU
--     missing_world_size            NULL. The number of ranks is not recorded
--     unknown_rank                  NULL. The rank follows from the order of
--                                   the files
--     missing_ranks                 ranks that the archive lacks, of all
--     several_clocks                hosts of the job. NULL if traces do not
--                                   record the base of their clock, or were
--                                   not recorded at the same time
--
-- GPU time and communication time are sums of durations. `text` ends with what to do.
--
-- since: 0.1
-- grain: job, rank, check
-- needs: traces
-- returns:
--   job         VARCHAR    -      run of a program
--   rank        INTEGER    -      rank of the process; NULL if the row is about the job
--   check       VARCHAR    -      what was found, as above; in SQL written "check"
--   severity    VARCHAR    -      warning: numbers can be wrong; info: something is missing
--   count       BIGINT     count  number, as above
--   share_frac  DOUBLE     0-1    share, as above; NULL if there is none
--   text        VARCHAR    -      the same in words, with what to do
--   weakens     VARCHAR[]  -      queries whose results it weakens, by name
-- check: severity IN ('warning', 'info')
-- check: count IS NULL OR count > 0
-- check: share_frac IS NULL OR share_frac BETWEEN 0 AND 1
-- check: text IS NOT NULL
-- check: len(weakens) > 0
-- reads: activity_facts, activity_faults, archive_faults, host_facts, lost_launches,
--   recording_gaps, unpaired_calls
CREATE OR REPLACE MACRO trace_quality_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to check [default: all]
    only_ranks INTEGER[] := NULL  -- ranks to check; rows about a job stay [default: all]
) AS TABLE
WITH
hosts AS MATERIALIZED (
    FROM host_facts(only_jobs, only_ranks)
),
activities AS MATERIALIZED (
    FROM activity_facts(hosts, only_jobs, only_ranks)
),
lost AS MATERIALIZED (
    FROM lost_launches(activities, only_jobs, only_ranks)
),
calls AS MATERIALIZED (
    FROM unpaired_calls(only_jobs)
),
faults AS (
    FROM activity_faults(activities, hosts, lost)
    UNION ALL
    FROM recording_gaps(activities, hosts, calls)
    UNION ALL
    FROM archive_faults(only_jobs, only_ranks)
)
SELECT
    f.job,
    f.rank,
    f.fault AS "check",
    f.severity,
    f.count::BIGINT AS count,
    f.share_frac::DOUBLE AS share_frac,
    f.text,
    f.weakens
FROM faults AS f
ORDER BY f.job, f.rank NULLS FIRST, f.severity DESC, f.fault;
