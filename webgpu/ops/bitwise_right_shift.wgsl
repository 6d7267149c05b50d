template binary(int32): result = x1 >> min(bitcast<u32>(x2), 31u);
template binary(uint32): result = select(x1 >> (x2 & 31u), 0u, x2 > 31u);
