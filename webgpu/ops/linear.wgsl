// `activation` is an index into the contract's list of choices for that parameter.
fn lw_linear_float32(product: f32, bias: f32, activation: i32) -> f32 {
    let x = product + bias;
    switch (activation) {
        case 1: {
            return lw_relu_float32(x);
        }
        case 2: {
            return lw_gelu_float32(x);
        }
        case 3: {
            return lw_gelu_tanh_float32(x);
        }
        case 4: {
            return lw_silu_float32(x);
        }
        case 5: {
            return lw_sigmoid_float32(x);
        }
        case 6: {
            return lw_tanh_float32(x);
        }
        default: {
            return x;
        }
    }
}
