template truth(bool): test = x; identity = 0u; combine = a | b;
template truth(int32): test = x != 0; identity = 0u; combine = a | b;
template truth(float32): test = !lw_is_zero(x); identity = 0u; combine = a | b;
