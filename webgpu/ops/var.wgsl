template variance(float32): finish = variance, -2 * lw_moments_exponent(total);
