// Sorts rows, or finds their first elements in order. Stable: equal elements keep their order. Keys are unsigned
// integers that compare like the elements; descending sorts invert them.
//
// Rows of up to lw_width elements: `tiles` sorts them in workgroup memory by Batcher's bitonic network, as many at a
// time as fit, as pairs of a key and a position. Each invocation takes three steps of the network at once, on eight
// pairs in registers. Runs of neighboring sizes are in ascending and in descending order. Of two runs of lw.kept pairs,
// which are at least as many as there are results, only the first of both are kept. If there are few results of longer
// rows, `tiles` writes those of each tile of a row to `scratch`, and runs again on these.
//
// Other rows: LSD radix sort by those digits of 8 bits that differ, of words (elements in sort, keys in argsort), and
// in argsort of the positions of the elements. Each digit takes three dispatches. `blocks` counts the digits of each
// block of a row, `combine` replaces each count by the sum of the counts of the same digit in earlier blocks, and
// `main` moves the words. No workgroup waits for another.
//
// Sources: Knuth, The Art of Computer Programming 3, 5.2.5 and 5.3.4; Satish, Harris and Garland, Designing efficient
// sorting algorithms for manycore GPUs, 2009, for the passes in workgroup memory.
const lw_sorters = 256u;   // invocations of a workgroup, and values of a digit
const lw_width = 2048u;    // elements that `tiles` sorts at a time
const lw_items = 8u * lw_sorters; // words that `main` sorts by a digit at a time
const lw_operand = ~0u;    // `source` and `destination` if they are not in scratch memory

struct LwSortLayout {
    offsets: vec4<u32>,           // as in LwLayout
    shape: array<vec4<u32>, 2>,
    strides: array<vec4<u32>, 8>,
    count: u32,                   // number of rows
    outer: u32,                   // their dimensions
    length: u32,                  // elements of a row
    results: u32,                 // of these, how many are written
    flip: u32,                    // all bits of a key in descending sorts, otherwise 0
    kept: u32,                    // pairs of a run that are kept, at least `results` or 8; a power of two
    team: u32,                    // elements of a tile, at least 8, or invocations that add counts; a power of two
    parts: u32,                   // tiles or blocks of a row
    block: u32,                   // elements of a block
    shift: u32,                   // position of the digit
    bits: u32,                    // of the digit
    source: u32,                  // where in scratch memory the words or pairs are, and where they go
    destination: u32,
    counts: u32,                  // where the counts are, by row, digit and block, and the sums of each digit's counts
    sums: u32,
}

var<workgroup> lw_pairs: array<vec2<u32>, lw_width>; // of a key and a position
var<workgroup> lw_counts: array<array<atomic<u32>, 8>, lw_sorters>; // eight, as atomics on one address take turns
var<workgroup> lw_starts: array<u32, lw_sorters>;
var<workgroup> lw_partial: array<u32, 2u * lw_sorters>;
var<workgroup> lw_moved: array<u32, lw_items + lw_items / 32u>;

fn lw_key(word: u32) -> u32 {
    return $key;
}

// The word of an element, of which `at` has the offsets.
fn lw_word(at: vec4<u32>) -> u32 {
    return $word;
}

// A pair's place in workgroup memory, so that invocations which access every 8th one use different banks.
fn lw_swizzled(i: u32) -> u32 {
    return i ^ ((i >> 4u) & 7u);
}

fn lw_is_after(a: vec2<u32>, b: vec2<u32>) -> bool {
    return (a.x > b.x) | ((a.x == b.x) & (a.y > b.y));
}

@compute @workgroup_size(lw_sorters)
fn tiles(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
         @builtin(num_workgroups) groups: vec3<u32>) {
    let all = lw.count * lw.parts;
    let several = lw_width / lw.team;
    let shift = firstTrailingBit(lw.team);
    for (var first = group.x * several; first < all; first += groups.x * several) {
        for (var i = invocation; i < lw_width; i += lw_sorters) {
            let tile = first + (i >> shift);
            let row = tile / lw.parts;
            let place = ((tile - row * lw.parts) << shift) + (i & (lw.team - 1u));
            var pair = vec2<u32>(~0u);
            if (tile < all && place < lw.length) {
                let at = lw.offsets + lw_element_offsets(row, 0u, lw.outer) + place * lw.strides[lw.outer];
                if (lw.source == lw_operand) {
                    pair = vec2<u32>($first, place);
                } else {
                    let word = lw.source + 2u * (row * lw.length + place);
                    pair = vec2<u32>(scratch_buffer[word], scratch_buffer[word + 1u]);
                }
            }
            lw_pairs[lw_swizzled(i)] = pair;
        }
        workgroupBarrier();
        for (var size = 8u; size <= lw.team; size *= 2u) {
            let span = min(size, lw.kept);
            let width = firstTrailingBit(span);
            if (size > span) {
                for (var i = invocation; i < lw_width / size * span; i += lw_sorters) {
                    let low = (i >> width) * size + (i & (span - 1u));
                    let other = lw_pairs[lw_swizzled(low + size / 2u)];
                    if (lw_is_after(lw_pairs[lw_swizzled(low)], other)) {
                        lw_pairs[lw_swizzled(low)] = other;
                    }
                }
                workgroupBarrier();
            }
            for (var left = width; left > 0u; left = max(left, 3u) - 3u) {
                let step = max(left, 3u) - 3u; // its logarithm
                if (invocation < lw_width / size * span / 8u) {
                    let i = ((invocation >> step) << (step + 3u)) | (invocation & ((1u << step) - 1u));
                    let place = (i >> width) * size + (i & (span - 1u));
                    let is_down = (size < lw.team) & (((i >> width) & 1u) == 1u);
                    $take
                    if (size == 8u) {
                        $sort_eight
                    } else {
                        if (left > 2u) {
                            $exchange_four
                        }
                        if (left > 1u) {
                            $exchange_two
                        }
                        $exchange_one
                    }
                    $put
                }
                workgroupBarrier();
            }
        }
        for (var i = invocation; i < lw_width; i += lw_sorters) {
            let tile = first + (i >> shift);
            let rank = i & (lw.team - 1u);
            if (tile < all && rank < lw.results) {
                if (lw.destination == lw_operand) {
                    var at = lw.offsets + lw_element_offsets(tile, 0u, lw.outer);
                    let place = lw_pairs[lw_swizzled(i)].y;
                    $load
                    at += rank * lw.strides[lw.outer];
                    $store_place;
                } else {
                    let to = lw.destination + 2u * (tile * lw.results + rank);
                    scratch_buffer[to] = lw_pairs[lw_swizzled(i)].x;
                    scratch_buffer[to + 1u] = lw_pairs[lw_swizzled(i)].y;
                }
            }
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(lw_sorters)
fn blocks(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
          @builtin(num_workgroups) groups: vec3<u32>) {
    for (var unit = group.x; unit < lw.count * lw.parts; unit += groups.x) {
        let row = unit / lw.parts;
        let at_row = lw.offsets + lw_element_offsets(row, 0u, lw.outer);
        let start = unit % lw.parts * lw.block;
        $zero
        workgroupBarrier();
        let end = min(lw.length, start + lw.block);
        for (var i = start + invocation; i < end; i += lw_items) {
            $read
            $count
        }
        workgroupBarrier();
        scratch_buffer[lw_count(row, invocation, unit % lw.parts)] = $total;
    }
}

fn lw_digit(word: u32) -> u32 {
    return (lw_key(word) >> lw.shift) & (lw_sorters - 1u);
}

fn lw_count(row: u32, digit: u32, block: u32) -> u32 {
    return lw.counts + (row * lw_sorters + digit) * lw.parts + block;
}

// Returns the sum of what the invocations of a team have up to this one, and that of all of them. A step adds four.
fn lw_sum_before(own: u32, invocation: u32, team: u32) -> vec2<u32> {
    let member = invocation & (team - 1u);
    var sum = own;
    var side = 0u;
    workgroupBarrier();
    lw_partial[invocation] = sum;
    workgroupBarrier();
    for (var step = 1u; step < team; step *= 4u) {
        let place = side + invocation;
        if (member >= step) { sum += lw_partial[place - step]; }
        if (member >= 2u * step) { sum += lw_partial[place - 2u * step]; }
        if (member >= 3u * step) { sum += lw_partial[place - 3u * step]; }
        side ^= lw_sorters;
        lw_partial[side + invocation] = sum;
        workgroupBarrier();
    }
    return vec2<u32>(sum, lw_partial[side + (invocation | (team - 1u))]);
}

@compute @workgroup_size(lw_sorters)
fn combine(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
           @builtin(num_workgroups) groups: vec3<u32>) {
    let all = lw.count * lw_sorters;
    let several = lw_sorters / lw.team;
    for (var first = group.x * several; first < all; first += groups.x * several) {
        let digit = first + invocation / lw.team;
        var before = 0u;
        for (var start = 0u; start < lw.parts; start += lw.team) {
            let block = start + invocation % lw.team;
            let at = lw_count(0u, digit, block);
            let exists = digit < all && block < lw.parts;
            var own = 0u;
            if (exists) {
                own = scratch_buffer[at];
            }
            let sums = lw_sum_before(own, invocation, lw.team);
            if (exists) {
                scratch_buffer[at] = before + sums.x - own;
            }
            before += sums.y;
        }
        if (digit < all && invocation % lw.team == 0u) {
            scratch_buffer[lw.sums + digit] = before;
        }
    }
}

// A place in workgroup memory, so that invocations which access every 8th one use different banks.
fn lw_spread(i: u32) -> u32 {
    return i + (i >> 5u);
}

// How often an invocation has a digit of 4 bits is in lw_moved, in the upper 16 bits of a word if the digit is above 7.
fn lw_counter(digit: u32, invocation: u32) -> u32 {
    return lw_spread((digit & 7u) * lw_sorters + invocation);
}

fn lw_half_shift(digit: u32) -> u32 {
    return (digit << 1u) & 16u;
}

// Sorts the words of a block, lw_items at a time, by the digit: in workgroup memory by 4 bits after another, where
// invocations have eight neighboring ones each, as the digit with the position below. The sums of all earlier counts of
// a digit and an invocation, in the order of digits, are the places of its words. Then it moves them to where their
// digit starts in the result: lw_starts, less where it starts in workgroup memory.
@compute @workgroup_size(lw_sorters)
fn main(@builtin(local_invocation_index) invocation: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    let own = 8u * invocation;
    for (var unit = group.x; unit < lw.count * lw.parts; unit += groups.x) {
        let row = unit / lw.parts;
        let at_row = lw.offsets + lw_element_offsets(row, 0u, lw.outer);
        let begin = unit % lw.parts * lw.block;
        let sum = scratch_buffer[lw.sums + row * lw_sorters + invocation];
        var start = lw_sum_before(sum, invocation, lw_sorters).x - sum;
        if (lw.parts > 1u) {
            start += scratch_buffer[lw_count(row, invocation, unit % lw.parts)];
        }
        lw_starts[invocation] = start;
        for (var first = begin; first < min(lw.length, begin + lw.block); first += lw_items) {
            let size = min(lw.length - first, lw_items);
            let i = first + invocation;
            let end = first + size;
            $read
            $place
            workgroupBarrier();
            $fetch
            for (var bit = 16u; bit < lw.bits + 16u; bit += 4u) {
                workgroupBarrier();
                $clear
                $digits
                workgroupBarrier();
                $counts
                let sum = $sum;
                let sums = lw_sum_before(sum, invocation, lw_sorters);
                var next = sums.x - sum + (sums.y << 16u);
                $sums
                workgroupBarrier();
                $places
                workgroupBarrier();
                $move
                workgroupBarrier();
                $fetch
            }
            let before = lw_moved[lw_spread(max(own, 1u) - 1u)] >> 16u;
            let last = lw_moved[lw_spread(size - 1u)] >> 16u;
            $starts
            workgroupBarrier();
            $write
            workgroupBarrier();
            $ends
            if (invocation == 0u) {
                lw_starts[last] += size;
            }
        }
    }
}

// Writes a word, and the position of its element, to a place in the row.
fn lw_move(row: u32, at_row: vec4<u32>, rank: u32, word: u32, place: u32) {
    if (lw.destination == lw_operand) {
        if (rank < lw.results) {
            let at = at_row + rank * lw.strides[lw.outer];
            $store;
        }
        return;
    }
    let to = lw.destination + row * lw.length + rank;
    scratch_buffer[to] = word;
    $move_place
}
