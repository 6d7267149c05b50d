// Writes values to the positions along an axis of the result that indices select; if several indices are equal, the
// last value wins. Values of indices out of range are not written. An element of the values belongs to the index with
// number lw_place(i).number in row-major order. First, `clear` sets `scratch` to zero, which has a word for each
// position along the axis. Then `claim` stores in each word the largest claim of the indices that select the position.
// Finally, `main` writes the values of the indices whose claims are stored. The operation's scalars are the extent of
// the axis and its stride in bytes.
override lw_group: u32 = 256u;
override lw_ndim: u32 = 1u;

struct LwPlace {
    number: u32,  // of the index
    others: u32,  // 0 for the first of the values that belong to the index
}

// Finds the index that element `i` of the values belongs to. The result has stride 0 along the dimensions of the
// indices.
fn lw_place(i: u32) -> LwPlace {
    var place = LwPlace();
    var scale = 1u;
    var remaining = i;
    for (var d = lw_ndim; d > 0u; ) {
        d -= 1u;
        let extent = lw.shape[d >> 2u][d & 3u];
        let slower = remaining / extent;
        let along = remaining - slower * extent;
        if (lw.strides[d].z == 0u) {
            place.number += along * scale;
            scale *= extent;
        } else {
            place.others |= along;
        }
        remaining = slower;
    }
    return place;
}

@compute @workgroup_size(lw_group)
fn clear(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < lw.scalars.x; i += groups.x * lw_group) {
        atomicStore(&scratch_buffer[i], 0u);
    }
}

@compute @workgroup_size(lw_group)
fn claim(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < lw.count; i += groups.x * lw_group) {
        let place = lw_place(i);
        if (place.others == 0u) {
            let at = lw.offsets + lw_element_offsets(i, 0u, lw_ndim);
            let position = $position;
            if (position < lw.scalars.x) {
                atomicMax(&scratch_buffer[position], lw_put_claim(place.number));
            }
        }
    }
}

@compute @workgroup_size(lw_group)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < lw.count; i += groups.x * lw_group) {
        var at = lw.offsets + lw_element_offsets(i, 0u, lw_ndim);
        let position = $position;
        if (position < lw.scalars.x && atomicLoad(&scratch_buffer[position]) == lw_put_claim(lw_place(i).number)) {
            at.z += position * lw.scalars.y;
            $store;
        }
    }
}
