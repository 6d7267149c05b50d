/* The variance: the sum of squared deviations from the mean (moments.h) divided by n - correction, or by 0 where that
 * is negative, as in NumPy. parameters: correction. */
#include "moments.h"

MOMENTS(int32, vi32_to_vf32(x))
MOMENTS(bool, vi32_to_vf32(vm32_to_vi32(x)))

static void var_finish(const reduced *total, int64_t count, const lw_scalar *parameters, char *out) {
    double degrees = (double)count - parameters[0].f;
    float value = (float)(total->moments.squares / (degrees > 0 ? degrees : 0));
    if (count == 0) value = __builtin_nanf("");
    __builtin_memcpy(out, &value, sizeof value);
}

#define VAR(in)                                                                                                  \
    static lw_status lw_var_##in(lw_context *context, const void *layout, const void *const *inputs,             \
                                 void *const *outputs, const lw_scalar *parameters) {                            \
        static const reducer r = {sizeof(item_##in), moments_block_##in, moments_columns_##in, moments_joined,   \
                                  var_finish};                                                                   \
        return reduce(context, layout, inputs, outputs, parameters, &r);                                         \
    }

VAR(float32)
VAR(int32)
VAR(bool)
