-- The number N in a name `ProfilerStep#N`. NULL for other names.
--
-- Blanks may stand around the `#`. Text without digits may follow N.
CREATE OR REPLACE MACRO step_number(name) AS
CASE
    WHEN prefix(name, 'ProfilerStep')
    THEN TRY_CAST(regexp_extract(name, '^ProfilerStep\s*#\s*(\d+)\D*$', 1) AS BIGINT)
END;

-- The name of a step's annotation without what differs from step to step: `ProfilerStep`,
-- `execute` (vLLM), `step[DECODE]` (SGLang), `decode` (ATOM) or `[Executor] _forward_step`
-- (TensorRT-LLM). Other names stay as they are.
CREATE OR REPLACE MACRO step_label(name) AS
CASE
    WHEN prefix(name, 'ProfilerStep') AND step_number(name) IS NOT NULL
    THEN 'ProfilerStep'
    WHEN prefix(name, 'execute_')
    THEN regexp_replace(name, '^execute_(\d+_)?(new|context|generation)_\d.*$', 'execute')
    WHEN prefix(name, 'step[')
    THEN regexp_replace(name, '^step\[([A-Z_0-9]+)[ \]].*$', 'step[\1]')
    WHEN contains(name, '[bs=')
    THEN regexp_replace(name, '^((eager_)?(prefill|decode|mixed))\[bs=.*$', '\1')
    WHEN prefix(name, '[Executor] _forward_step ')
    THEN regexp_replace(name, '^(\[Executor\] _forward_step) \d.*$', '\1')
    ELSE name
END;

-- The same for the mark of a step whatever its name: `train_step N` for `train_step 7`.
CREATE OR REPLACE MACRO mark_label(name) AS
regexp_replace(step_label(name), '\d+', 'N', 'g');
