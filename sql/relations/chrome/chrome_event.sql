-- An event in Chrome's trace format: a JSON object on one line.
--
-- Times are ns, written as microseconds with three decimals. `arguments` and `more_keys` are the
-- text of JSON objects. Values that are NULL are left out.

-- 1234567 becomes 1234.567.
CREATE OR REPLACE MACRO chrome_time(ns) AS
CASE WHEN ns < 0 THEN '-' ELSE '' END
    || (abs(ns) // 1000)::VARCHAR || '.' || lpad((abs(ns) % 1000)::VARCHAR, 3, '0');

-- The id of a process, a thread or a flow: a number if it looks like one.
CREATE OR REPLACE MACRO chrome_id(value) AS
CASE
    WHEN regexp_full_match(value, '-?(0|[1-9]\d{0,17})') THEN value
    ELSE to_json(value)::VARCHAR
END;

CREATE OR REPLACE MACRO chrome_event(
    phase, category, label, of_process, of_thread, after_ns, lasting_ns, flow, binding, scope,
    arguments, more_keys
) AS
'{"ph":' || to_json(phase)::VARCHAR
    || coalesce(',"cat":' || to_json(category)::VARCHAR, '')
    || coalesce(',"name":' || to_json(label)::VARCHAR, '')
    || coalesce(',"pid":' || chrome_id(of_process), '')
    || coalesce(',"tid":' || chrome_id(of_thread), '')
    || coalesce(',"ts":' || chrome_time(after_ns), '')
    || coalesce(',"dur":' || chrome_time(lasting_ns), '')
    || coalesce(',"id":' || chrome_id(flow), '')
    || coalesce(',"bp":' || to_json(binding)::VARCHAR, '')
    || coalesce(',"s":' || to_json(scope)::VARCHAR, '')
    || coalesce(',"args":' || arguments, '')
    || coalesce(',' || nullif(trim(trim(more_keys)[2:-2]), ''), '')
    || '}';
