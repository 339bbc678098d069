-- Whether a correlation id can be the number of a runtime call. CUDA and HIP count them in 32 bits.
CREATE OR REPLACE MACRO is_call_number(correlation) AS correlation BETWEEN 0 AND 4_294_967_295;
