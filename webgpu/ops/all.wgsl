template truth(bool): test = x; identity = 1u; combine = a & b;
template truth(int32): test = x != 0; identity = 1u; combine = a & b;
template truth(float32): test = !lw_is_zero(x); identity = 1u; combine = a & b;
