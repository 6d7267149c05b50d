// Compared as integers, the bits of |x| have the order of the floats, with NaN above all of them.
template reduction(float32):
    identity = 0.0; map = lw_magnitude(x); finish = total;
    combine = bitcast<f32>(max(bitcast<u32>(a), bitcast<u32>(b)));
