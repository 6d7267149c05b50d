// Like argmax, with the ranks reversed, except that NaN still has the highest rank.
template extreme_index(float32): rank = select(-lw_order(x), lw_INT32_MAX, lw_is_nan(x));
template extreme_index(int32): rank = ~x;
template extreme_index(uint32): rank = ~bitcast<i32>(x ^ lw_SIGN_BIT);
