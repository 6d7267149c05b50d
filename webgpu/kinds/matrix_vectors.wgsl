// For matrix_tiles.wgsl: loads four elements of A or B, `others` being the offsets of the last three from the first.
fn lw_element_of_${name}(at: u32) -> f32 {
    return ${name}_vectors[at >> 4u][(at >> 2u) & 3u];
}

fn lw_vector_of_${name}(at: u32, others: vec3<u32>) -> vec4<f32> {
    if (lw_transposed < 4u) {
        return ${name}_vectors[at >> 4u];
    }
    return vec4<f32>(
        lw_element_of_${name}(at), lw_element_of_${name}(at + others.x),
        lw_element_of_${name}(at + others.y), lw_element_of_${name}(at + others.z)
    );
}
