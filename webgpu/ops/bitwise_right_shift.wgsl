template binary(int32): result = x1 >> min(bitcast<u32>(x2), 31u);
