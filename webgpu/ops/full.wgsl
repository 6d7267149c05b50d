// A creation function receives the position of an element and the bits of the parameters, which are float64 for float
// dtypes and int64 for others.
template expression(bool int32): arguments = i: u32, value: vec2<u32>; result = lw_astype_int64_$dtype(value);
template expression(float32): arguments = i: u32, value: vec2<u32>; result = lw_astype_float64_$dtype(value);
template expression(int64 float64): arguments = i: u32, value: vec2<u32>; result = value;
