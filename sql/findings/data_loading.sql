-- The GPU is idle while the launching thread waits for the next batch of a data loader.
--
-- Gain: this idle time.
--
-- needs: gpu_activities, launches
--
-- reads: humane_ns
CREATE OR REPLACE MACRO find_data_loading(idle_totals) AS TABLE
SELECT
    t.job,
    t.rank,
    NULL::VARCHAR AS topic,
    'DataLoader' AS subject,
    'The GPU waits for the data loader' AS title,
    format(
        'The GPU is idle for {} {} while the launching thread waits for the next batch{}.',
        humane_ns(t.idle_ns),
        t.per_unit,
        coalesce(format(', for {} of it in {}', humane_ns(t.host_ns), t.host_name), '')
    ) AS evidence,
    t.numbers,
    t.idle_ns AS gain_ns,
    'exposed idle' AS gain_method,
    'high' AS confidence,
    'Load batches ahead: raise num_workers and prefetch_factor of the DataLoader, set pin_memory, '
    || 'or make the work per sample cheaper.' AS advice,
    'idle_reasons --top-k 20' AS see
FROM query_table(idle_totals) AS t
WHERE t.rule = 'data_loading';
