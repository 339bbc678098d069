-- What an event is, by its category: never by its name or by having a stream, since annotations,
-- synchronisations and Triton's host rows carry streams too.

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

-- A call into the runtime or driver: cuda_runtime, cuda_driver, mtia_runtime, xpu_runtime, ...
CREATE OR REPLACE MACRO is_runtime_call(category) AS
category = 'Runtime' OR suffix(category, '_runtime') OR suffix(category, '_driver');

-- Has a place in a thread's call stack.
CREATE OR REPLACE MACRO is_host_op(category) AS
category IN ('cpu_op', 'Operator', 'user_annotation', 'python_function')
OR is_runtime_call(category);
