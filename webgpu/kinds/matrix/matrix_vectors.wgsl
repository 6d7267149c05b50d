// How all entry points for float32 matrices but those of matrix.wgsl read A and B: four elements at a time.
// lw_access has the bits below, and above them the binary logarithm of the size of a team in matrix_dots.wgsl (see
// native/extension/webgpu/webgpu_matrix.c).
override lw_access: u32 = 0u;
// B is read along k, not along n
const lw_b_along_k = 1u;
// A is read along m, not along k
const lw_a_along_m = 2u;
// four elements of A are not contiguous, or not at a multiple of 16 bytes, so they are loaded one by one
const lw_a_elementwise = 4u;
// the same for B
const lw_b_elementwise = 8u;
const lw_team_shift = 4u;

fn lw_element_of_a(at: u32) -> f32 {
    return a_vectors[at >> 4u][(at >> 2u) & 3u];
}

fn lw_element_of_b(at: u32) -> f32 {
    return b_vectors[at >> 4u][(at >> 2u) & 3u];
}

// Loads four elements; `others` are the offsets of the last three from the first.
fn lw_vector_of_a(at: u32, others: vec3<u32>) -> vec4<f32> {
    if ((lw_access & lw_a_elementwise) == 0u) {
        return a_vectors[at >> 4u];
    }
    return vec4<f32>(
        lw_element_of_a(at), lw_element_of_a(at + others.x), lw_element_of_a(at + others.y),
        lw_element_of_a(at + others.z)
    );
}

fn lw_vector_of_b(at: u32, others: vec3<u32>) -> vec4<f32> {
    if ((lw_access & lw_b_elementwise) == 0u) {
        return b_vectors[at >> 4u];
    }
    return vec4<f32>(
        lw_element_of_b(at), lw_element_of_b(at + others.x), lw_element_of_b(at + others.y),
        lw_element_of_b(at + others.z)
    );
}

// The vectors that an invocation loads of each strip of A or B: where the first one is, in bytes, how far its other
// elements are from its first, how far the second vector is from the first one, and how far one index along k is from
// the next.
struct LwVectors {
    at: u32,
    others: vec3<u32>,
    second: u32,
    step: u32,
}

// Returns those of invocation `t` of `invocations`. The operand has `extent` rows, `stride` bytes apart, if it is A, or
// columns, if it is B. The tile has 4 * `quarter` of them, from `first` on.
fn lw_vectors_of_strip(base: u32, first: u32, extent: u32, stride: u32, step: u32, is_along_k: bool, t: u32,
                       quarter: u32, invocations: u32) -> LwVectors {
    let others = vec3<u32>(1u, 2u, 3u);
    let last = extent - 1u;
    if (is_along_k) {
        let row = min(first + t / 2u, last);
        let second = min(first + t / 2u + invocations / 2u, last);
        return LwVectors(base + row * stride + t % 2u * 4u * step, others * step, (second - row) * stride, step);
    }
    let row = min(first + t % quarter * 4u, last);
    let next_rows = min(row + others, vec3<u32>(last)) - row;
    return LwVectors(base + row * stride + t / quarter * step, next_rows * stride, invocations / quarter * step, step);
}
