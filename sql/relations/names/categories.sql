-- Macros that test what an event is, from its category (`cat`).
--
-- A stream does not show that an event is on the GPU: annotations, synchronisations and Triton's
-- host events also have streams.
--
-- IS TRUE makes each condition a single expression. DuckDB applies a single expression while it
-- scans a Parquet file, before it reads the other columns. DuckDB does not do so for a list of
-- values or an OR.

-- Whether the event occupies the device: a kernel, copy or memset. The list has the
-- categories of CUDA, ROCm, XPU, older profilers and MTIA.
CREATE OR REPLACE MACRO is_gpu_activity(category) AS
(
    category IN (
        'kernel', 'gpu_memcpy', 'gpu_memset',
        'Kernel', 'Memcpy', 'Memset',
        'mtia_ccp_events'
    )
) IS TRUE;

-- Whether the event is a copy or memset on the device.
CREATE OR REPLACE MACRO is_copy_or_memset(category) AS
(category IN ('gpu_memcpy', 'gpu_memset', 'Memcpy', 'Memset')) IS TRUE;

-- Whether the event is a PyTorch operator.
CREATE OR REPLACE MACRO is_operator(category) AS
(category IN ('cpu_op', 'Operator')) IS TRUE;

-- Whether the event is a call into the runtime or driver: cuda_runtime, cuda_driver, mtia_runtime,
-- xpu_runtime, ...
CREATE OR REPLACE MACRO is_runtime_call(category) AS
(
    category = 'Runtime' OR suffix(category, '_runtime') OR suffix(category, '_driver')
) IS TRUE;

-- Whether the event has a place in a thread's call stack.
CREATE OR REPLACE MACRO is_host_op(category) AS
(
    category IN ('user_annotation', 'python_function')
    OR is_operator(category)
    OR is_runtime_call(category)
) IS TRUE;
