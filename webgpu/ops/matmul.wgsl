fn lw_matmul_float32(product: f32) -> f32 {
    return product;
}
