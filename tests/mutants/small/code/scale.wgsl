// Adds up 1.5 x + 0.25 over the elements x of each row that are in [-2, 2).
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

const rows = 3u;
const columns = 5u;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    var sum = 0.0;
    var found = false;
    for (var i = 0u; i < columns; i++) {
        let value = x[at.x * columns + i];
        if (value >= -2.0 && value < 2.0) {
            sum += fma(value, 1.5, 0.25);
            found = true;
        }
    }
    out[at.x] = select(-1.0, max(sum, 0.5), found);
    out[rows + at.x] = sum;
}
