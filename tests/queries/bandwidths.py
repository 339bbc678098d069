"""Queries of bandwidths."""

SEEDS = range(6)


JOBS = 25  # in one table, so that a few hundred small cases cost a few dozen calls


UNIX = 1_712_151_111_631_234_567  # more digits than a double holds


QUERIES = ("memory_bandwidth_series", "memory_bandwidth_summary")


# Each rule of copy_kind with its names, and names next to it.
COPY_KINDS = [
    ("Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD"),
    ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD"),
    ("Memcpy DtoH (Device -> Pageable)", "Memcpy DtoH"),
    ("Memcpy DtoD (Device -> Device)", "Memcpy DtoD"),
    ("Memcpy PtoP (Device -> Device)", "Memcpy PtoP"),
    ("Memcpy HtoH (Pageable -> Pinned)", "Memcpy HtoH"),
    ("Memcpy AtoD (Array -> Device)", "Memcpy AtoD"),
    ("Memcpy DtoD", "Memcpy DtoD"),
    ("Memcpy Peer (Device -> Device)", "Memcpy Peer"),
    ("Memcpy Unknown", "Memcpy Unknown"),
    ("Memcpy <unknown> (Pageable -> Device)", "Memcpy Unknown"),
    ("Memcpy (Pageable -> Device)", "Memcpy Unknown"),
    ("Memcpy", "Memcpy Unknown"),
    ("Memset (Device)", "Memset"),
    ("Memset (Unknown)", "Memset"),
    ("hipMemset", "Memset"),
    ("hipMemsetAsync", "Memset"),
    ("__amd_rocclr_fillBufferAligned", "Memset"),
    ("__amd_rocclr_fillBufferAligned.kd", "Memset"),
    ("FillBuffer", "Memset"),
    ("__amd_rocclr_copyBuffer", "Memcpy Unknown"),
    ("__amd_rocclr_copyBufferRect", "Memcpy Unknown"),
    ("CopyDeviceToDevice", "Memcpy DtoD"),
    ("CopyHostToDevice", "Memcpy HtoD"),
    ("CopyDeviceToHost", "Memcpy DtoH"),
    ("CopyHostToHost", "Memcpy HtoH"),
    ("CopyDeviceToDeviceAsync", "Memcpy DtoD"),
    ("hipMemcpyDtoHAsync", "Memcpy DtoH"),
    ("hipMemcpyHtoD", "Memcpy HtoD"),
    ("hipMemcpyAsync", "Memcpy Unknown"),
    ("hipMemcpyWithStream", "Memcpy Unknown"),
    ("zeCommandListAppendMemoryCopy(M2D)", "Memcpy HtoD"),
    ("zeCommandListAppendMemoryCopy(D2M)", "Memcpy DtoH"),
    ("zeCommandListAppendMemoryCopy(H2D)", "Memcpy HtoD"),
    ("zeCommandListAppendMemoryCopy(D2D)", "Memcpy DtoD"),
    ("zeCommandListAppendMemoryCopy", "Memcpy Unknown"),
    ("zeCommandListAppendMemoryFill", "Memset"),
    ("dma_request", "Memcpy Unknown"),
    ("", "Memcpy Unknown"),
    (None, "Memcpy Unknown"),
]
