// The score of a key. If the mask is -inf, the key is hidden, whatever it holds.
fn lw_scaled_dot_product_attention_float32_score(product: f32, scale: f32, mask: f32) -> f32 {
    let hidden = lw_from_bits(lw_SIGN_BIT | lw_INFINITY_BITS);
    return select(product * scale + mask, hidden, bitcast<u32>(mask) == bitcast<u32>(hidden));
}

// e^(score - largest) * 2^-32, NaN if the largest score is NaN or +inf. The factor keeps sums of weighted values
// finite. The weight of a hidden key is 0, also if all are hidden.
fn lw_scaled_dot_product_attention_float32_weight(score: f32, largest: f32) -> f32 {
    let is_hidden = bitcast<u32>(largest) == (lw_SIGN_BIT | lw_INFINITY_BITS);
    let factor = select(lw_nan(), 0x1p-32, is_hidden | lw_is_finite(largest));
    return lw_exp_term(score - select(largest, 0.0, is_hidden)) * factor;
}

// What has been added up is scaled by e^(before - largest) when the largest score grows.
fn lw_scaled_dot_product_attention_float32_rescale(before: f32, largest: f32) -> f32 {
    return lw_scaled_dot_product_attention_float32_weight(before, largest) * 0x1p32;
}

// The factor that makes sums means; 0 for a query that sees no key.
fn lw_scaled_dot_product_attention_float32_reciprocal(total: f32) -> f32 {
    return select(lw_divide_float32(1.0, total), 0.0, lw_is_zero(total));
}
