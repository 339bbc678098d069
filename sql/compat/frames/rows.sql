-- The data frame of a rank's trace.
--
-- $rank: the rank.
SELECT
    index,
    cat,
    name,
    pid,
    tid,
    hta_us(ts_ns) AS ts,
    hta_us(dur_ns) AS dur,
    hta_us(ts_ns + dur_ns) AS "end",
    stream,
    correlation,
    bytes,
    memory_bw_gbps,
    wait_on_stream,
    wait_on_cuda_event_record_corr_id,
    input_dims,
    input_type,
    input_strides,
    external_id,
    index_correlation,
    iteration
FROM hta_rows
WHERE rank = $rank
ORDER BY index
