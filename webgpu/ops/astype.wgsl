// Conversions between floats, and between floats and integers, use the integer arithmetic of math/convert.wgsl. Float
// results are rounded once.
template cast(bool) -> int32: result = select(0, 1, x);
template cast(bool) -> int64: result = vec2<u32>(select(0u, 1u, x), 0u);
template cast(bool) -> float16: result = select(0u, lw_ONE_BITS_FLOAT16, x);
template cast(bool) -> float32: result = select(0.0, 1.0, x);
template cast(bool) -> float64: result = select(vec2<u32>(), lw_ONE_BITS_FLOAT64, x);

template cast(int32) -> bool: result = x != 0;
template cast(int64) -> bool: result = any(x != vec2<u32>());
template cast(float16) -> bool: result = lw_magnitude_bits_float16(x) != 0u;
template cast(float32) -> bool: result = !lw_is_zero(x);
template cast(float64) -> bool: result = any(lw_magnitude_bits_float64(x) != vec2<u32>());

template cast(int32) -> int64: result = lw_widen(x);
template cast(int64) -> int32: result = bitcast<i32>(x.x);
template cast(float16 float32 float64) -> int32:
    result = bitcast<i32>(lw_integer_of(lw_number_of_$dtype(x), 32).x);
template cast(float16 float32 float64) -> int64: result = lw_integer_of(lw_number_of_$dtype(x), 64);

template cast(int32 int64 float32 float64) -> float16: result = lw_float16_of(lw_number_of_$dtype(x));
template cast(int32 int64 float16 float64) -> float32: result = lw_float32_of(lw_number_of_$dtype(x));
template cast(int32 int64 float16 float32) -> float64: result = lw_float64_of(lw_number_of_$dtype(x));
