template variance(float32): finish = lw_sqrt_float32(variance), -lw_moments_exponent(total);
