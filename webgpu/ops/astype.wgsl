// Conversions between floats, and between floats and integers, use the integer arithmetic of math/convert.wgsl, or
// math/half.wgsl. Float results are rounded once. Integers of 1 and 2 bytes are i32 here; storing them wraps. Floats of
// 2 bytes are bits.
template cast(bool) -> stored_signed stored_unsigned int32: result = select(0, 1, x);
template cast(bool) -> uint32: result = select(0u, 1u, x);
template cast(bool) -> int64 uint64: result = vec2<u32>(select(0u, 1u, x), 0u);
template cast(bool) -> stored_floating: result = select(0u, lw_half_of_float32(1.0, ${to_fraction}u), x);
template cast(bool) -> float32: result = select(0.0, 1.0, x);
template cast(bool) -> float64: result = select(vec2<u32>(), lw_ONE_BITS_FLOAT64, x);

template cast(stored_signed stored_unsigned int32) -> bool: result = x != 0;
template cast(uint32) -> bool: result = x != 0u;
template cast(int64 uint64) -> bool: result = any(x != vec2<u32>());
template cast(stored_floating) -> bool: result = (x & 0x7fffu) != 0u;
template cast(float32) -> bool: result = !lw_is_zero(x);
template cast(float64) -> bool: result = any(lw_magnitude_bits_float64(x) != vec2<u32>());

template cast(stored_signed stored_unsigned int32) -> stored_signed stored_unsigned int32: result = x;
template cast(uint32) -> stored_signed stored_unsigned int32: result = bitcast<i32>(x);
template cast(int64 uint64) -> stored_signed stored_unsigned int32: result = bitcast<i32>(x.x);
template cast(stored_signed stored_unsigned int32) -> uint32: result = bitcast<u32>(x);
template cast(int64 uint64) -> uint32: result = x.x;
template cast(stored_signed stored_unsigned int32) -> int64 uint64: result = lw_widen(x);
template cast(uint32) -> int64 uint64: result = vec2<u32>(x, 0u);
template cast(int64 uint64) -> int64 uint64: result = x;

template cast(float32 float64) -> int32 int64 uint32 uint64: result = lw_${to}_of(lw_number_of_$dtype(x));
template cast(float32 float64) -> stored_signed:
    result = bitcast<i32>(lw_integer_of(lw_number_of_$dtype(x), $to_bits).x);
template cast(float32 float64) -> stored_unsigned:
    result = bitcast<i32>(lw_unsigned_of(lw_number_of_$dtype(x), $to_bits).x);
template cast(stored_floating) -> int32 int64 uint32 uint64:
    result = lw_${to}_of(lw_number_of_float32(lw_float32_of_half(x, ${fraction}u)));
template cast(stored_floating) -> stored_signed:
    result = bitcast<i32>(lw_integer_of(lw_number_of_float32(lw_float32_of_half(x, ${fraction}u)), $to_bits).x);
template cast(stored_floating) -> stored_unsigned:
    result = bitcast<i32>(lw_unsigned_of(lw_number_of_float32(lw_float32_of_half(x, ${fraction}u)), $to_bits).x);

template cast(stored_signed stored_unsigned) -> float32: result = f32(x);
template cast(stored_signed stored_unsigned) -> float64: result = lw_float64_of(lw_number_of_float32(f32(x)));
template cast(int32) -> float32: result = lw_add_halves(f32(x >> 16u), f32(x & 0xffff));
template cast(uint32) -> float32: result = lw_add_halves(f32(x >> 16u), f32(x & 0xffffu));
template cast(int32 uint32) -> float64: result = lw_float64_of(lw_number_of_$dtype(x));
template cast(int64 uint64 float32 float64) -> float32 float64: result = lw_${to}_of(lw_number_of_$dtype(x));
template cast(stored_floating) -> float32: result = lw_float32_of_half(x, ${fraction}u);
template cast(stored_floating) -> float64:
    result = lw_float64_of(lw_number_of_float32(lw_float32_of_half(x, ${fraction}u)));
template cast(stored_signed stored_unsigned) -> stored_floating: result = lw_half_of_float32(f32(x), ${to_fraction}u);
template cast(float32) -> stored_floating: result = lw_half_of_float32(x, ${to_fraction}u);
template cast(int32 int64 uint32 uint64 float64) -> stored_floating:
    result = lw_half_of(lw_number_of_$dtype(x), ${to_fraction}u);
template cast(stored_floating) -> stored_floating:
    result = lw_half_of_float32(lw_float32_of_half(x, ${fraction}u), ${to_fraction}u);
