/* Resolves calls of elementwise operations: promotes and broadcasts the operands. */
#include "lanewise_operations.h"
#include "plan/plan.h"

/* Fills in an absent input, which is a bound of clip, with the lowest or highest value of the kernel's dtype. */
static int fill_absent(const lw_input *input, lw_operand *operand, int dtype) {
    int is_lowest = input->absent == LW_ABSENT_LOWEST;
    lw_scalar bound = {.f = is_lowest ? -__builtin_inf() : __builtin_inf()};
    if (!lw_is_floating(dtype)) {
        static const int64_t bounds[][2] = {{1, 0}, {INT32_MAX, INT32_MIN}, {INT64_MAX, INT64_MIN}};
        bound.i = bounds[dtype][is_lowest];
    }
    lw_operand_from_scalar(!lw_is_floating(dtype) ? LW_WEAK_INT : LW_WEAK_FLOAT, bound, operand);
    return lw_convert_operand(operand, dtype);
}

/* Replaces a Python number beside integers of `dtype` by one that compares in the same way with every integer, and
 * converts exactly. Returns the dtype in which to compare them. That dtype may round the integers, but not to or past
 * the number. */
static int replace_beside_integers(lw_operand *number, int dtype) {
    double value = number->scalar.f;
    number->weakness = LW_WEAK_FLOAT;
    if (!(value > -0x1p63 && value < 0x1p63)) { /* beyond all integers, or NaN */
        number->scalar.f *= __builtin_inf();
        return LW_FLOAT32;
    }
    int64_t whole = (int64_t)value;
    if ((double)whole == value) {
        number->scalar.i = whole;
        number->weakness = LW_WEAK_INT;
        return lw_promote(dtype, LW_INT32);
    }
    number->scalar.f = (double)whole + (value < 0 ? -0.5 : 0.5);
    return value > -0x1p22 && value < 0x1p22 ? LW_FLOAT32 : LW_FLOAT64;
}

/* Converts a Python int beside floats of `dtype`. If it is between two floats, takes the larger one if `is_up`, and the
 * smaller one otherwise; or NaN for a test of equality. */
static int replace_beside_floats(lw_operand *number, int dtype, int is_up, int is_equality) {
    int rest;
    double value = lw_nearest_double((lw_weakness)number->weakness, number->scalar, &rest);
    if (lw_convert_operand(number, dtype) < 0) {
        return -1;
    }
    double rounded = lw_decode_float(dtype, number->data);
    if (rounded == value && rest == 0) {
        return 0;
    }
    int was_rounded_up = rounded == value ? rest < 0 : rounded > value;
    if (is_equality) {
        number->scalar.f = __builtin_nan("");
        number->weakness = LW_WEAK_FLOAT;
    } else if (was_rounded_up != is_up) {
        number->scalar.i += is_up == (value > 0) ? 1 : -1; /* to the next float, as their bits have their order */
    }
    return 0;
}

/* Prepares a comparison by value, whatever the dtypes: returns the dtype to compare in, or -1 with an error set, and
 * replaces Python numbers that this dtype does not hold. For other operations, returns `dtype`. A Python float beside
 * floats is converted to their dtype, as everywhere. call.c handles int64 beside floats, which have no common dtype. */
static int resolve_comparison(const lw_operation *operation, lw_operand *operands, int dtype) {
    if (!operation->compares) {
        return dtype;
    }
    for (int i = 0; i < 2; i++) {
        const lw_operand *other = &operands[!i];
        if (operands[i].weakness >= LW_WEAK_BIG_INT_BELOW && other->weakness == LW_STRONG &&
            !lw_is_floating(other->dtype)) {
            dtype = replace_beside_integers(&operands[i], other->dtype);
        }
    }
    int has_floats = lw_is_floating(dtype);
    int is_equality =
        operation == &lw_operations[LW_OPERATION_equal] || operation == &lw_operations[LW_OPERATION_not_equal];
    int is_up = operation == &lw_operations[LW_OPERATION_less] ||
                operation == &lw_operations[LW_OPERATION_greater_equal]; /* x < number is x < the next larger float */
    for (int i = 0; i < 2; i++) {
        lw_operand *operand = &operands[i];
        int is_big = lw_is_big_int(operand->weakness);
        if (has_floats && (is_big || operand->weakness == LW_WEAK_INT)) {
            dtype = replace_beside_floats(operand, dtype, is_up == i, is_equality) < 0 ? -1 : dtype;
        } else if (has_floats && operand->weakness == LW_STRONG && operand->dtype == LW_INT32 &&
                   operands[!i].weakness == LW_STRONG) {
            dtype = LW_FLOAT64;
        } else if (is_big) {
            dtype = LW_FLOAT64;
        } else if (operand->weakness == LW_WEAK_INT && !lw_fits_int32(operand)) {
            dtype = lw_promote(dtype, LW_INT64);
        }
    }
    return dtype;
}

/* Makes a NumPy scalar weak if another operand is an array, or if the scalar's dtype has no kernel. It then promotes as
 * a Python number does. */
static int weaken_numpy_scalars(const lw_operation *operation, lw_operand *operands) {
    int numbers = 0, meets_array = 0;
    for (int i = 0; i < operation->input_count; i++) {
        numbers |= lw_is_numpy_scalar(&operands[i]);
    }
    if (!numbers) {
        return 0;
    }
    for (int i = 0; i < operation->input_count; i++) {
        meets_array |= operands[i].data && operands[i].weakness == LW_STRONG && operation->inputs[i].dtype < 0 &&
                       !lw_is_numpy_scalar(&operands[i]);
    }
    for (int i = 0; i < operation->input_count; i++) {
        lw_operand *operand = &operands[i];
        if (operand->data && lw_is_numpy_scalar(operand) && operation->inputs[i].dtype < 0 &&
            (meets_array || operation->kernels[0][operand->dtype] < 0) && lw_weaken_operand(operand) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Converts every operand to the kernel's dtype, or to the one that the contract fixes. Fills in absent inputs. */
static int convert_operands(const lw_operation *operation, lw_operand *operands, int dtype) {
    for (int i = 0; i < operation->input_count; i++) {
        const lw_input *input = &operation->inputs[i];
        int status = operands[i].data ? lw_convert_operand(&operands[i], input->dtype >= 0 ? input->dtype : dtype)
                                      : fill_absent(input, &operands[i], dtype);
        if (status < 0) {
            return -1;
        }
    }
    return 0;
}

/* Raises an error, and returns 1, for a negative int exponent of an integer power, as NumPy does. Exponents in an array
 * are not checked. */
static int refuses_negative_power(const lw_operation *operation, const lw_operand *operands, int dtype) {
    if (operation != &lw_operations[LW_OPERATION_pow] || lw_is_floating(dtype) || operands[1].weakness != LW_WEAK_INT ||
        operands[1].scalar.i >= 0) {
        return 0;
    }
    lw_raise(LW_ARGUMENT_ERROR,
             "expected an exponent of at least 0 for int32, got %lld; give it as a float, %lld.0, or convert the base "
             "to a float dtype with astype",
             (long long)operands[1].scalar.i, (long long)operands[1].scalar.i);
    return 1;
}

int lw_resolve_elementwise(const lw_arguments *arguments, lw_plan *plan) {
    const lw_operation *operation = plan->operation;
    lw_operand *operands = plan->operands;
    int count = operation->input_count;
    if ((operation->parameter_count && lw_parse_kernel_parameters(arguments, plan->parameters) < 0) ||
        weaken_numpy_scalars(operation, operands) < 0) {
        return -1;
    }
    int variant = operation->variant_parameter < 0 ? 0 : (int)plan->parameters[operation->variant_parameter].i;
    int computed = resolve_comparison(operation, operands, lw_computed_dtype(operation, operands, count));
    int dtype = computed < 0 ? -1 : lw_kernel_dtype(operation, variant, computed, operands, count);
    if (dtype < 0 || refuses_negative_power(operation, operands, dtype) ||
        convert_operands(operation, operands, dtype) < 0 || lw_set_kernel(plan, variant, dtype) < 0) {
        return -1;
    }
    int64_t broadcast[LW_MAX_NDIM];
    const int64_t *shape = operands[0].shape;
    int ndim = operands[0].ndim;
    if (!lw_is_one_row(operands + 1, count - 1, ndim, shape)) {
        shape = broadcast;
        ndim = lw_broadcast_shape(operands, count, broadcast);
    }
    if (ndim < 0 || lw_set_result(plan, ndim, shape) < 0) {
        return -1;
    }
    lw_plan_elements(plan);
    return 0;
}
