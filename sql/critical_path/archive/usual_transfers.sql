-- One row per kind of collective or message: the median transfer time in all jobs.
--
-- Two collectives, or two messages, are of the same kind if name, dtype, numbers of elements and
-- number of members are equal.
CREATE OR REPLACE TEMP TABLE usual_transfers AS
SELECT
    name,
    dtype,
    in_nelems,
    out_nelems,
    member_total,
    quantile_disc(transfer_ns, 0.5) AS transfer_ns
FROM (
    SELECT
        job,
        collective_id,
        min(name) AS name,
        min(dtype) AS dtype,
        max(in_nelems) AS in_nelems,
        max(out_nelems) AS out_nelems,
        any_value(member_total) AS member_total,
        any_value(transfer_ns) AS transfer_ns
    FROM paired_members(NULL)
    WHERE collective_id IS NOT NULL
    GROUP BY job, collective_id
)
GROUP BY name, dtype, in_nelems, out_nelems, member_total;
