-- Messages between ranks: the paired send and receive, and which side waited.
--
-- Pipeline stages pass activations and gradients as messages. The side with the shorter duration
-- came last, and the other side waited for it:
--
--     sender                 [=== send ===)
--     receiver   [wwwwwwwwwww=== recv ====)     w: recv_wait_ns
--                            transfer_ns
--
-- bubble_ns is the part of recv_wait_ns without computation on the receiver's device.
--
-- The column paired_by says how messages were paired:
--   * comms_id or seq: by the profiler's ids, in a process group of two ranks, if all calls from
--     the sender to the receiver have such an id.
--   * order: by order for each sender and receiver, in all other cases. In larger groups the ids
--     cannot be used, because the profiler counts the messages of each rank separately.
--
-- collective_audit lists messages with only one side in the archive.
--
-- The bubble of a pipeline stage in a step is the sum of bubble_ns over the messages that its rank
-- receives, if receives do not overlap:
--
--     SELECT job, dst_rank, step, sum(bubble_ns)
--     FROM point_to_point() GROUP BY ALL
--
-- If receives overlap, use pipeline_bubbles: there, the time of overlapping receives counts once.
-- pipeline_bubbles also gives the duration of the step.
--
-- since: 0.1
-- grain: job, collective_id
-- needs: messages, ranks
-- returns:
--   job                 VARCHAR  -      run of a program
--   collective_id       BIGINT   -      number of the message; collectives and messages are
--                                       numbered together
--   src_rank            INTEGER  -      rank of the sender
--   dst_rank            INTEGER  -      rank of the receiver
--   process_group       VARCHAR  -      name of the process group
--   step                BIGINT   -      step in which the receive was launched; NULL outside steps
--   dtype               VARCHAR  -      data type
--   bytes               BIGINT   bytes  size of the message; NULL if the data type or the size is
--                                       not known
--   send_event_id       BIGINT   -      event_id of the sender's kernel
--   recv_event_id       BIGINT   -      event_id of the receiver's kernel
--   recv_start_ns       BIGINT   ns     start of the receive, on the receiver's own clock
--   send_ns             BIGINT   ns     duration of the send on the sender
--   recv_ns             BIGINT   ns     duration of the receive on the receiver
--   transfer_ns         BIGINT   ns     the shorter of send_ns and recv_ns
--   send_wait_ns        BIGINT   ns     time that the sender waited for the receiver
--   recv_wait_ns        BIGINT   ns     time that the receiver waited for the sender
--   bubble_ns           BIGINT   ns     part of recv_wait_ns without computation on the receiver's
--                                       device; NULL in archives that an earlier hta_sql wrote
--   busbw_gbps          DOUBLE   GB/s   bytes / transfer_ns
--   paired_by           VARCHAR  -      comms_id, seq or order
-- check: src_rank <> dst_rank
-- check: transfer_ns = least(send_ns, recv_ns)
-- check: least(send_wait_ns, recv_wait_ns) = 0
-- check: bubble_ns BETWEEN 0 AND recv_wait_ns
-- reads: dtype_sizes, hidden_waits, paired_members
CREATE OR REPLACE MACRO point_to_point_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks that send or receive the messages [default: all]
    only_steps BIGINT[] := NULL  -- steps in which the receives were launched [default: all]
) AS TABLE
WITH
members AS (
    FROM paired_members(only_jobs)
    WHERE is_message AND member_count = 2
),
sends AS (
    FROM members
    WHERE operation = 'send'
),
received AS (
    FROM members
    WHERE operation = 'recv'
),
messages AS (
    SELECT
        r.job,
        r.collective_id,
        s.rank AS src_rank,
        r.rank AS dst_rank,
        r.process_group,
        r.step,
        r.dtype,
        greatest(r.out_nelems, r.in_nelems, s.in_nelems) AS nelems,
        s.event_id AS send_event_id,
        r.event_id AS recv_event_id,
        r.start_ns,
        s.dur_ns AS send_ns,
        r.dur_ns AS recv_ns,
        r.transfer_ns,
        s.wait_ns AS send_wait_ns,
        r.wait_ns AS recv_wait_ns,
        r.hidden_wait_ns,
        r.paired_by
    FROM hidden_waits(received, only_jobs, NULL) AS r
    JOIN sends AS s ON s.job = r.job AND s.collective_id = r.collective_id
    WHERE (
        only_ranks IS NULL OR list_contains(only_ranks, r.rank) OR list_contains(only_ranks, s.rank)
    )
      AND (only_steps IS NULL OR list_contains(only_steps, r.step))
)
SELECT
    m.job,
    m.collective_id,
    m.src_rank,
    m.dst_rank,
    m.process_group,
    m.step,
    m.dtype,
    m.nelems * d.element_bytes::BIGINT AS bytes,
    m.send_event_id,
    m.recv_event_id,
    m.start_ns AS recv_start_ns,
    m.send_ns,
    m.recv_ns,
    m.transfer_ns,
    m.send_wait_ns,
    m.recv_wait_ns,
    m.recv_wait_ns - m.hidden_wait_ns AS bubble_ns,
    m.nelems * d.element_bytes::BIGINT / nullif(m.transfer_ns, 0) AS busbw_gbps,
    m.paired_by
FROM messages AS m
LEFT JOIN dtype_sizes AS d ON d.dtype = m.dtype
ORDER BY m.job, m.collective_id;
