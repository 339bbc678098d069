-- Macros that write an event in Chrome's trace format.

-- Writes a time in ns as microseconds with three decimals: 1234567 becomes 1234.567.
CREATE OR REPLACE MACRO chrome_time(ns) AS
CASE WHEN ns < 0 THEN '-' ELSE '' END
    || (abs(ns) // 1000)::VARCHAR || '.' || lpad((abs(ns) % 1000)::VARCHAR, 3, '0');

-- Writes the id of a process, a thread or a flow: as a number if the id looks like one, else as a
-- string.
CREATE OR REPLACE MACRO chrome_id(value) AS
CASE
    WHEN regexp_full_match(value, '-?(0|[1-9]\d{0,17})') THEN value
    ELSE to_json(value)::VARCHAR
END;

-- Writes an event as a JSON object on one line. A key whose value is NULL is left out.
--
-- `after_ns`: time stamp of the event (ns)
-- `lasting_ns`: duration of the event (ns)
-- `arguments`: the text of a JSON object
-- `more_keys`: the text of a JSON object; its keys become keys of the event
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
