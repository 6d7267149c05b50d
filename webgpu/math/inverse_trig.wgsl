const lw_PI = 3.141592653589793;
const lw_PI_2 = 1.5707963267948966;

struct LwAsinParts {
    angle: f32,
    is_complement: bool, // if true, asin |x| = pi/2 - 2 * angle; if false, asin |x| = angle
}

// The steps and polynomial of asin_reduce in core/math/inverse_trig.h, for |x| <= 1.
fn lw_asin_reduce(x: f32) -> LwAsinParts {
    let size = lw_magnitude(x);
    let is_complement = size > 0.5;
    let half = 0.5 - 0.5 * size;
    let z = select(size * size, half, is_complement);
    let s = select(size, sqrt(half), is_complement);
    var p = z * 0.04215838760137558 + 0.02418474294245243;
    p = p * z + 0.04546915367245674;
    p = p * z + 0.074953094124794;
    p = p * z + 0.16666752099990845;
    return LwAsinParts(s + p * z * s, is_complement);
}

// The polynomial of atan_minimax in core/math/inverse_trig.h, for 0 <= t <= 1.
fn lw_atan_minimax(t: f32) -> f32 {
    if (t < 1e-4) {
        return t;
    }
    let z = t * t;
    var p = z * 0.0029200860299170017 - 0.016365408897399902;
    p = p * z + 0.043207596987485886;
    p = p * z - 0.07551838457584381;
    p = p * z + 0.1066582202911377;
    p = p * z - 0.14211007952690125;
    p = p * z + 0.19993767142295837;
    p = p * z - 0.33333152532577515;
    return t + p * z * t;
}
