-- Which calls of the runtime or driver make the host wait for a device.

-- A call that waits for a device, stream or event, by its name. Not those that make a stream wait
-- (cudaStreamWaitEvent), nor those that only ask (cudaEventQuery), nor those that may happen to
-- wait beside their real work (cudaMalloc, cudaFree).
CREATE OR REPLACE MACRO waits_for_device(name) AS
CASE
    -- CUDA, HIP, MTIA, Level Zero, Ascend and others: cudaStreamSynchronize, cuCtxSynchronize,
    -- hipDeviceSynchronize, synchronizeStream, zeEventHostSynchronize, aclrtSynchronizeStream.
    WHEN regexp_matches(name, '(?i)synchroni[sz]e')
    THEN true
    -- SYCL's layers, urQueueFinish and piEventsWait; urEnqueueEventsWait is a device's business.
    WHEN regexp_matches(name, '^(ur|pi)(QueueFinish|EventWait|EventsWait)$')
    THEN true
    WHEN regexp_matches(name, '^cl(Finish|WaitForEvents)$')
    THEN true
    ELSE false
END;

-- A copy whose call, by its name, returns only when it is done: cudaMemcpy, cuMemcpyDtoH_v2, also
-- hipMemcpyWithStream. Between devices not even these wait for certain.
CREATE OR REPLACE MACRO copies_synchronously(name) AS
coalesce(
    regexp_matches(name, '^(cuda|cu|hip)Memcpy')
    AND NOT regexp_matches(name, 'Async|Peer|DtoD|DtoA|AtoD|AtoA'),
    false
);

-- Whether a copy kept the host waiting: `way` is its copy_kind, and `outlasts` tells that the call
-- that launched it returned only when the copy had ended.
CREATE OR REPLACE MACRO blocks_host(launch_name, way, name, outlasts) AS
CASE
    WHEN copies_synchronously(launch_name)
    THEN outlasts OR way NOT IN ('Memcpy DtoD', 'Memcpy PtoP')
    -- Into pageable memory a copy is not asynchronous, whatever its call is named.
    WHEN way = 'Memcpy DtoH' AND contains(name, 'Pageable')
    THEN true
    -- Where the memory is not said; into pinned memory an end before the call's is chance.
    WHEN way = 'Memcpy DtoH' AND NOT contains(name, 'Pinned')
    THEN outlasts
    ELSE false
END;
