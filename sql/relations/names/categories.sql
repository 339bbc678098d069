-- What an event is, by its category: never by its name or by having a stream, since annotations,
-- synchronisations and Triton's host rows carry streams too.
--
-- IS TRUE makes each one expression, by which a Parquet file is filtered before its other columns
-- are read; a list of values or an OR is not.

-- Occupies the device: kernels, copies, memsets, by the names of CUDA, ROCm and XPU, by those of
-- older profilers, and MTIA's.
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

-- One of PyTorch's operators.
CREATE OR REPLACE MACRO is_operator(category) AS
(category IN ('cpu_op', 'Operator')) IS TRUE;

-- A call into the runtime or driver: cuda_runtime, cuda_driver, mtia_runtime, xpu_runtime, ...
CREATE OR REPLACE MACRO is_runtime_call(category) AS
(
    category = 'Runtime' OR suffix(category, '_runtime') OR suffix(category, '_driver')
) IS TRUE;

-- Has a place in a thread's call stack.
CREATE OR REPLACE MACRO is_host_op(category) AS
(
    category IN ('user_annotation', 'python_function')
    OR is_operator(category)
    OR is_runtime_call(category)
) IS TRUE;
