template expression(float32): result = bitcast<f32>(bitcast<u32>(x) ^ lw_SIGN_BIT);
template expression(int32): result = -x;
