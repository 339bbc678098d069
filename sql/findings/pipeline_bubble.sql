-- Stages of a pipeline wait longer than their schedule needs.
--
-- If a stage computes c(r) per step for its m micro-batches, a good schedule takes the sum of all
-- stages' c / m, and m - 1 times the longest c / m. Minus its own c(r), that is what a stage needs
-- to wait; if all p stages are equal, c * (p - 1) / m. Gain: the exposed communication beyond the
-- needed waits, without the transfers that all stages have; on the stage with the least of it.
--
-- p and m follow from the messages. A stage at an end of a pipeline has one peer. If there is no
-- such stage, p is the size of the group. m is the number of receives of full size per peer. c(r)
-- is the computing time from the first to the last message of a step. The first stage computes
-- before its first message; its c(r) has the same share of its work as on the other stages.
--
-- needs: messages, ranks, steps
--
-- reads: humane_ns
CREATE OR REPLACE MACRO find_pipeline_bubble(comm_calls, comm_ranks, slow_ranks) AS TABLE
WITH
messages AS (
    SELECT
        job,
        rank,
        step,
        label,
        group_size,
        start_ns,
        computed_ns,
        computed_then_ns,
        waited_ns,
        min(rank) OVER of_message + max(rank) OVER of_message - rank AS peer,
        label = 'recv' AND bytes = max(bytes) OVER (PARTITION BY job, rank, label) AS is_part
    FROM query_table(comm_calls)
    WHERE is_message AND is_whole AND step IS NOT NULL
    WINDOW of_message AS (PARTITION BY job, collective_id)
),
in_steps AS (
    SELECT
        job,
        rank,
        step,
        count(DISTINCT peer) AS peer_count,
        max(group_size) AS group_size,
        count_if(is_part) / count(DISTINCT peer) FILTER (is_part) AS part_count,
        sum(waited_ns) AS message_ns,
        CASE
            WHEN arg_min(label, start_ns) = 'recv' THEN max(computed_then_ns) - min(computed_ns)
        END AS computed_ns
    FROM messages
    GROUP BY job, rank, step
),
stages AS (
    SELECT
        i.job,
        i.rank,
        any_value(r.exposed_ns) AS exposed_ns,
        any_value(r.moved_ns + r.slow_ns + r.small_ns) AS transfer_ns,
        any_value(w.work_ns) AS work_ns,
        max(i.peer_count) AS peer_count,
        max(i.group_size) AS group_size,
        avg(i.part_count) AS part_count,
        avg(i.message_ns) AS message_ns,
        avg(i.computed_ns) AS computed_ns
    FROM in_steps AS i
    JOIN query_table(comm_ranks) AS r ON r.job = i.job AND r.rank = i.rank
    JOIN query_table(slow_ranks) AS w ON w.job = i.job AND w.rank = i.rank
    GROUP BY i.job, i.rank
),
pipelines AS (
    SELECT
        *,
        coalesce(
            2 * count(*) OVER of_job // nullif(count_if(peer_count = 1) OVER of_job, 0),
            max(group_size) OVER of_job
        ) AS stage_count,
        min(part_count) OVER of_job AS micro_count,
        coalesce(computed_ns, work_ns * avg(computed_ns / work_ns) OVER of_job) AS stage_ns
    FROM stages
    WINDOW of_job AS (PARTITION BY job)
),
needs AS (
    SELECT
        *,
        stage_count * avg(stage_ns) OVER of_job / micro_count
            + max(stage_ns) OVER of_job * (micro_count - 1) / micro_count - stage_ns AS needed_ns
    FROM pipelines
    WINDOW of_job AS (PARTITION BY job)
),
gains AS (
    SELECT
        job,
        any_value(stage_count) AS stage_count,
        round(any_value(micro_count), 1) AS micro_count,
        arg_max(rank, message_ns) AS longest_rank,
        max(message_ns)::BIGINT AS message_ns,
        arg_max(needed_ns, message_ns)::BIGINT AS needed_ns,
        least(min(exposed_ns - needed_ns) - min(transfer_ns), max(message_ns))::BIGINT AS gain_ns
    FROM needs
    GROUP BY job
)
SELECT
    t.job,
    t.rank,
    NULL::VARCHAR AS topic,
    'recv' AS subject,
    'Pipeline stages wait longer than their schedule needs' AS title,
    format(
        'Rank {} waits for messages for {} per step. A good schedule of {} stages and {:g} '
        || 'micro-batches needs waits of {}.',
        g.longest_rank,
        humane_ns(g.message_ns),
        g.stage_count,
        g.micro_count,
        humane_ns(g.needed_ns)
    ) AS evidence,
    json_object(
        'message_wait_ns', g.message_ns,
        'needed_ns', g.needed_ns,
        'stage_count', g.stage_count,
        'micro_batch_count', g.micro_count,
        'longest_rank', g.longest_rank
    ) AS numbers,
    g.gain_ns,
    'excess over a good schedule' AS gain_method,
    'medium' AS confidence,
    'Send each micro-batch as soon as it is computed, in a 1F1B or interleaved schedule. More and '
    || 'smaller micro-batches shorten what the schedule needs.' AS advice,
    'pipeline_bubbles' AS see,
    true AS is_of_job
FROM stages AS t
JOIN gains AS g ON g.job = t.job
WHERE g.gain_ns > 0;
