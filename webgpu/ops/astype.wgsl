// Conversions between floats, and between floats and integers, use the integer arithmetic of math/convert.wgsl. Float
// results are rounded once. Integers of 1 and 2 bytes are i32 here; storing them wraps.
template cast(bool) -> int8 int16 int32 uint8 uint16: result = select(0, 1, x);
template cast(bool) -> uint32: result = select(0u, 1u, x);
template cast(bool) -> int64 uint64: result = vec2<u32>(select(0u, 1u, x), 0u);
template cast(bool) -> float16: result = select(0u, 0x3c00u, x);
template cast(bool) -> bfloat16: result = select(0u, 0x3f80u, x);
template cast(bool) -> float32: result = select(0.0, 1.0, x);
template cast(bool) -> float64: result = select(vec2<u32>(), lw_ONE_BITS_FLOAT64, x);

template cast(int8 int16 int32 uint8 uint16) -> bool: result = x != 0;
template cast(uint32) -> bool: result = x != 0u;
template cast(int64 uint64) -> bool: result = any(x != vec2<u32>());
template cast(float16 bfloat16) -> bool: result = (x & 0x7fffu) != 0u;
template cast(float32) -> bool: result = !lw_is_zero(x);
template cast(float64) -> bool: result = any(lw_magnitude_bits_float64(x) != vec2<u32>());

template cast(int8 int16 int32 uint8 uint16) -> int8 int16 int32 uint8 uint16: result = x;
template cast(uint32) -> int8 int16 int32 uint8 uint16: result = bitcast<i32>(x);
template cast(int64 uint64) -> int8 int16 int32 uint8 uint16: result = bitcast<i32>(x.x);
template cast(int8 int16 int32 uint8 uint16) -> uint32: result = bitcast<u32>(x);
template cast(int64 uint64) -> uint32: result = x.x;
template cast(int8 int16 int32 uint8 uint16) -> int64 uint64: result = lw_widen(x);
template cast(uint32) -> int64 uint64: result = vec2<u32>(x, 0u);
template cast(int64 uint64) -> int64 uint64: result = x;

template cast(float16 bfloat16 float32 float64) -> int8 int16 int32 int64 uint8 uint16 uint32 uint64:
    result = lw_${to}_of(lw_number_of_$dtype(x));
template cast(int8 int16 int32 uint8 uint16) -> float16 bfloat16 float32 float64:
    result = lw_${to}_of(lw_number_of_int32(x));
template cast(int64 uint32 uint64 float16 bfloat16 float32 float64) -> float16 bfloat16 float32 float64:
    result = lw_${to}_of(lw_number_of_$dtype(x));
