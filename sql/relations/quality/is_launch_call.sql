-- Whether a call into the runtime or driver, by its name, launches a kernel, a graph or a copy.
--
-- Memsets are left out, since a memset of no bytes has no activity: cuDNN and cuBLAS call many.
CREATE OR REPLACE MACRO is_launch_call(name) AS
(
    contains(name, 'Launch') AND NOT contains(name, 'HostFunc')
    OR contains(name, 'Memcpy')
    OR contains(name, 'memcpy')
) IS TRUE;
