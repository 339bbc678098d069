-- What a device's activity is for: computation, communication or memory.

-- The rules for names, in the order they are tried; a name that matches none is computation.
CREATE OR REPLACE MACRO kernel_name_rules() AS TABLE
SELECT *
FROM (
    VALUES
        -- NCCL, RCCL and HCCL kernels of every age, with or without a return type in front.
        (1, 'communication', '^(void )?(nccl|rccl|hccl)'),
        (2, 'communication', 'nccl(Dev)?Kernel|rccl(Dev)?Kernel'),
        (3, 'communication', '(?i)oneccl|oneapi::ccl|msccl|nvshmem|deep_ep'),
        -- vLLM's and SGLang's own all-reduce.
        (4, 'communication', 'cross_device_reduce'),
        -- Custom and symmetric-memory collectives, such as multimem_all_reduce_kernel.
        (5, 'communication', '(?i)all_?reduce|all_?gather|reduce_?scatter|all_?to_?all'),
        (6, 'memory', '^(hip)?Mem(cpy|set)|^dma'),
        -- ROCm copies and fills that run as kernels.
        (7, 'memory', '^CopyDeviceToDevice|^__amd_rocclr_(copy|fill)Buffer')
) AS rules (precedence, kind, pattern);

-- The kind of each distinct `name` of a relation, so that patterns are tried once a name.
CREATE OR REPLACE MACRO kinds_of_names(relation) AS TABLE
WITH
names AS (
    SELECT DISTINCT name
    FROM query_table(relation)
)
SELECT
    names.name,
    coalesce(arg_min(rules.kind, rules.precedence), 'computation') AS kind
FROM names
LEFT JOIN kernel_name_rules() AS rules ON regexp_matches(names.name, rules.pattern)
GROUP BY names.name;

-- The category decides first, then the profiler's own word for a collective, then the name.
CREATE OR REPLACE MACRO kernel_kind(category, collective, kind_of_name) AS
CASE
    WHEN is_copy_or_memset(category) THEN 'memory'
    WHEN collective <> '' THEN 'communication'
    ELSE kind_of_name
END;
