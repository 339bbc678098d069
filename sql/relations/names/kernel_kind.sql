-- Macros that return the kind of a GPU activity: computation, communication or memory.

-- The kind of an activity, from its name alone. The first rule that matches decides.
CREATE OR REPLACE MACRO kind_of_name(name) AS
CASE
    -- NCCL, RCCL and HCCL kernels of every age, with or without a return type in front.
    WHEN regexp_matches(name, '^(void )?(nccl|rccl|hccl)|(nccl|rccl)(Dev)?Kernel')
    THEN 'communication'
    WHEN regexp_matches(name, '(?i)oneccl|oneapi::ccl|msccl|nvshmem|deep_ep')
    THEN 'communication'
    -- vLLM's and SGLang's own all-reduce.
    WHEN contains(name, 'cross_device_reduce')
    THEN 'communication'
    -- Custom and symmetric-memory collectives, such as multimem_all_reduce_kernel.
    WHEN regexp_matches(name, '(?i)all_?reduce|all_?gather|reduce_?scatter|all_?to_?all')
    THEN 'communication'
    WHEN regexp_matches(name, '^(hip)?Mem(cpy|set)|^dma')
    THEN 'memory'
    -- ROCm copies and fills that run as kernels.
    WHEN regexp_matches(name, '^CopyDeviceToDevice|^__amd_rocclr_(copy|fill)Buffer')
    THEN 'memory'
    ELSE 'computation'
END;

-- The kind of an activity, from three properties. The first property that decides wins.
--
--     is_copy_or_memset  whether the category is that of a copy or memset
--     collective         the profiler's name for the collective; NULL or '': none
--     kind_by_name       kind_of_name of the activity's name
CREATE OR REPLACE MACRO kernel_kind(is_copy_or_memset, collective, kind_by_name) AS
CASE
    WHEN is_copy_or_memset THEN 'memory'
    WHEN collective <> '' THEN 'communication'
    ELSE kind_by_name
END;
