-- The direction of a copy, from its name: `Memcpy HtoD`, `Memcpy DtoH`, `Memcpy DtoD`, ...
--
-- For a memset: `Memset`. If the name does not show the direction: `Memcpy Unknown`.
CREATE OR REPLACE MACRO copy_kind(name) AS
CASE
    -- CUDA: Memset (Device). ROCm: FillBuffer, __amd_rocclr_fillBufferAligned. XPU:
    -- zeCommandListAppendMemoryFill.
    WHEN regexp_matches(name, '^(hip)?Memset|^(__amd_rocclr_f|F)illBuffer|^ze\w*MemoryFill')
    THEN 'Memset'
    -- CUDA: Memcpy HtoD (Pinned -> Device).
    WHEN regexp_matches(name, '^Memcpy \w')
    THEN regexp_extract(name, '^Memcpy \w+')
    -- ROCm: hipMemcpyHtoD.
    WHEN regexp_matches(name, '^hipMemcpy[A-Z]to[A-Z]')
    THEN 'Memcpy ' || regexp_extract(name, '[A-Z]to[A-Z]')
    -- ROCm: CopyHostToDevice.
    WHEN regexp_matches(name, '^Copy(Host|Device)To(Host|Device)')
    THEN regexp_replace(name, '^Copy(\w)[a-z]+To(\w).*$', 'Memcpy \1to\2')
    -- XPU: zeCommandListAppendMemoryCopy(M2D), from the host's memory to the device.
    WHEN regexp_matches(name, '^ze\w*MemoryCopy\w*\([A-Z]2[A-Z]\)')
    THEN 'Memcpy ' || replace(
        regexp_replace(name, '^.*\(([A-Z])2([A-Z])\).*$', '\1to\2'), 'M', 'H'
    )
    ELSE 'Memcpy Unknown'
END;
