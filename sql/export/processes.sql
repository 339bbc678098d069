-- Up to three lines in Chrome's trace format per process of a rank: its name, its position in the
-- viewer and its labels. These lines are used if several ranks are exported together.
--
-- The processes of a rank are in this order:
--   * processes with a name or a main thread, such as `rank 3: python 41037`
--   * devices, such as `rank 3: GPU 3`
--   * all other processes
--
-- If the trace has a name for a process, the line uses this name. For a device, the trace's labels
-- take the place of the name.
WITH
said AS (
    SELECT
        pid,
        any_value(json_extract_string(args, '$.name')) FILTER (name = 'process_name')
            AS process_name,
        any_value(json_extract_string(args, '$.labels')) FILTER (name = 'process_labels')
            AS labels
    FROM export_metadata
    WHERE rank = getvariable('export_rank')
    GROUP BY pid
),
processes AS (
    SELECT
        new_pid,
        pid,
        is_device,
        min(device) AS device,
        bool_or(tid = pid) AS has_main_thread
    FROM export_lanes
    WHERE rank = getvariable('export_rank') AND is_used AND pid IS NOT NULL
    GROUP BY new_pid, pid, is_device
),
named AS (
    SELECT
        p.new_pid,
        concat('rank ', getvariable('export_rank'), ': ') || CASE
            WHEN p.is_device THEN coalesce(nullif(s.labels, ''), concat('GPU ', p.device))
            WHEN p.pid = '' THEN 'profiler'
            WHEN s.process_name <> '' THEN concat(s.process_name, ' ', p.pid)
            WHEN regexp_full_match(p.pid, '-?\d+') THEN concat('process ', p.pid)
            ELSE p.pid
        END AS process_name,
        CASE WHEN NOT p.is_device THEN nullif(s.labels, '') END AS labels,
        getvariable('export_sort_index') + row_number() OVER (
            ORDER BY
                CASE
                    WHEN p.is_device THEN 2
                    WHEN p.has_main_thread OR s.process_name <> '' THEN 1
                    ELSE 3
                END,
                p.device,
                p.pid
        ) AS sort_index
    FROM processes AS p
    LEFT JOIN said AS s ON s.pid = p.pid
),
lines AS (
    SELECT sort_index, unnest([
        chrome_event(
            'M', NULL, 'process_name', new_pid, '0', NULL, NULL, NULL, NULL, NULL,
            json_object('name', process_name)::VARCHAR, NULL
        ),
        chrome_event(
            'M', NULL, 'process_sort_index', new_pid, '0', NULL, NULL, NULL, NULL, NULL,
            json_object('sort_index', sort_index)::VARCHAR, NULL
        ),
        CASE
            WHEN labels IS NOT NULL
            THEN chrome_event(
                'M', NULL, 'process_labels', new_pid, '0', NULL, NULL, NULL, NULL, NULL,
                json_object('labels', labels)::VARCHAR, NULL
            )
        END
    ]) AS line
    FROM named
)
SELECT line
FROM lines
WHERE line IS NOT NULL
ORDER BY sort_index
