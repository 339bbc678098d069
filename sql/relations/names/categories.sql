-- The kind of an event by its category. Name and stream do not decide, since annotations,
-- synchronisations and Triton's host rows have streams, too.
--
-- IS TRUE makes each condition one expression. A Parquet file is filtered by it before its other
-- columns are read. It is not filtered so by a list of values or an OR.

-- The event occupies the device: kernels, copies and memsets, by the names of CUDA, ROCm, XPU,
-- older profilers and MTIA.
CREATE OR REPLACE MACRO is_gpu_activity(category) AS
(
    category IN (
        'kernel', 'gpu_memcpy', 'gpu_memset',
        'Kernel', 'Memcpy', 'Memset',
        'mtia_ccp_events'
    )
) IS TRUE;

CREATE OR REPLACE MACRO is_copy_or_memset(category) AS
(category IN ('gpu_memcpy', 'gpu_memset', 'Memcpy', 'Memset')) IS TRUE;

-- The event is a PyTorch operator.
CREATE OR REPLACE MACRO is_operator(category) AS
(category IN ('cpu_op', 'Operator')) IS TRUE;

-- The event is a call into the runtime or driver: cuda_runtime, cuda_driver, mtia_runtime,
-- xpu_runtime, ...
CREATE OR REPLACE MACRO is_runtime_call(category) AS
(
    category = 'Runtime' OR suffix(category, '_runtime') OR suffix(category, '_driver')
) IS TRUE;

-- The event has a place in a thread's call stack.
CREATE OR REPLACE MACRO is_host_op(category) AS
(
    category IN ('user_annotation', 'python_function')
    OR is_operator(category)
    OR is_runtime_call(category)
) IS TRUE;
