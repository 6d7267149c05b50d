/* Resolves calls of elementwise operations: promotes and broadcasts the operands. */
#include "lanewise_operations.h"
#include "plan/plan.h"

/* Fills in an absent input, which is a bound of clip, with the lowest or highest value of the kernel's dtype. */
static int fill_absent(const lw_input *input, lw_operand *operand, int dtype) {
    int is_lowest = input->absent == LW_ABSENT_LOWEST;
    lw_scalar bound = {.f = is_lowest ? -__builtin_inf() : __builtin_inf()};
    lw_weakness weakness = LW_WEAK_FLOAT;
    if (lw_is_integer(dtype)) {
        bound.i = is_lowest ? lw_lowest_integer(dtype) : lw_highest_integer(dtype);
        weakness = bound.i < 0 && !is_lowest ? LW_WEAK_UINT64 : LW_WEAK_INT;
    }
    lw_operand_from_scalar(weakness, bound, operand);
    return lw_convert_operand(operand, dtype);
}

/* Replaces a Python number beside integers of `dtype` by one that compares in the same way with every integer, and
 * converts exactly. Returns the dtype in which to compare them. That dtype may round the integers, but not to or past
 * the number. */
static int replace_beside_integers(lw_operand *number, int dtype) {
    if (number->weakness == LW_WEAK_FLOAT && number->scalar.f >= -0x1p63 && number->scalar.f < 0x1p63) {
        double value = number->scalar.f;
        int64_t whole = (int64_t)value;
        if ((double)whole != value) {
            number->scalar.f = (double)whole + (value < 0 ? -0.5 : 0.5);
            return value > -0x1p22 && value < 0x1p22 ? LW_FLOAT32 : LW_FLOAT64;
        }
        number->scalar.i = whole;
        number->weakness = LW_WEAK_INT;
    } else if (number->weakness == LW_WEAK_FLOAT && number->scalar.f >= 0x1p63 && number->scalar.f < 0x1p64) {
        number->scalar.i = (int64_t)(uint64_t)number->scalar.f;
        number->weakness = LW_WEAK_UINT64;
    }
    dtype = dtype == LW_BOOL ? LW_INT32 : dtype;
    if (lw_is_weak_int(number->weakness)) {
        int side = lw_outside((lw_weakness)number->weakness, number->scalar, dtype);
        if (side == 0) {
            return dtype;
        }
        number->scalar.f = side;
    }
    number->scalar.f *= __builtin_inf(); /* beyond all integers, or NaN */
    number->weakness = LW_WEAK_FLOAT;
    return LW_FLOAT32;
}

/* Replaces a Python int beside floats of `dtype` by one of these. If it is between two floats, takes the larger one if
 * `is_up`, and the smaller one otherwise; or NaN for a test of equality. */
static int replace_beside_floats(lw_operand *number, int dtype, int is_up, int is_equality) {
    int rest;
    double value = lw_nearest_double((lw_weakness)number->weakness, number->scalar, &rest);
    if (lw_convert_operand(number, dtype) < 0) {
        return -1;
    }
    lw_scalar rounded;
    lw_decode(dtype, number->data, &rounded);
    if (rounded.f != value || rest != 0) {
        int was_rounded_up = rounded.f == value ? rest < 0 : rounded.f > value;
        if (was_rounded_up != is_up) {
            number->scalar.i += is_up == (value > 0) ? 1 : -1; /* to the next float, as their bits have their order */
            lw_decode(dtype, number->data, &rounded);
        }
        rounded.f = is_equality ? __builtin_nan("") : rounded.f;
    }
    number->scalar = rounded;
    number->weakness = LW_WEAK_FLOAT;
    return 0;
}

/* Returns the dtype in which to compare arrays that promote to the float dtype `promoted`. It includes both dtypes. */
static int dtype_to_compare(const lw_operand *x1, const lw_operand *x2, int promoted) {
    const lw_operand *integers = lw_is_integer(x1->dtype) ? x1 : x2;
    return !lw_is_integer(integers->dtype)      ? promoted
           : lw_item_size(integers->dtype) <= 2 ? lw_promote(promoted, LW_FLOAT32)
                                                : LW_FLOAT64;
}

/* Prepares a comparison by value, whatever the dtypes: returns the dtype to compare in, or -1 with an error set, and
 * replaces Python numbers that this dtype does not hold. For other operations, returns `dtype`. A Python float beside
 * floats is converted to their dtype, as everywhere. call.c handles arrays whose dtypes no dtype includes. */
static int resolve_comparison(const lw_operation *operation, lw_operand *operands, int dtype) {
    if (!operation->compares || dtype < 0) {
        return dtype;
    }
    lw_operand *x1 = &operands[0], *x2 = &operands[1];
    if (x1->weakness == LW_STRONG && x2->weakness == LW_STRONG) {
        return lw_is_floating(dtype) ? dtype_to_compare(x1, x2, dtype) : dtype;
    }
    int is_equality =
        operation == &lw_operations[LW_OPERATION_equal] || operation == &lw_operations[LW_OPERATION_not_equal];
    int is_up = operation == &lw_operations[LW_OPERATION_less] ||
                operation == &lw_operations[LW_OPERATION_greater_equal]; /* x < number is x < the next larger float */
    for (int i = 0; i < 2; i++) {
        lw_operand *number = &operands[i];
        const lw_operand *other = &operands[!i];
        int is_int = lw_is_weak_int(number->weakness) || lw_is_big_int(number->weakness);
        if (other->weakness == LW_STRONG && !lw_is_floating(other->dtype)) {
            return number->weakness == LW_WEAK_BOOL ? dtype : replace_beside_integers(number, other->dtype);
        }
        if (is_int && lw_is_floating(dtype) && replace_beside_floats(number, dtype, is_up == i, is_equality) < 0) {
            return -1;
        }
        if (is_int && !lw_is_floating(dtype)) { /* two Python numbers */
            dtype = number->weakness != LW_WEAK_INT                 ? LW_FLOAT64
                    : number->scalar.i == (int32_t)number->scalar.i ? dtype
                                                                    : lw_promote(dtype, LW_INT64);
        }
    }
    return dtype;
}

/* Makes a NumPy scalar weak if another operand is an array. It then promotes as a Python number does. */
static void weaken_numpy_scalars(const lw_operation *operation, lw_operand *operands) {
    int numbers = 0, meets_array = 0;
    for (int i = 0; i < operation->input_count; i++) {
        numbers |= lw_is_numpy_scalar(&operands[i]);
    }
    if (!numbers) {
        return;
    }
    for (int i = 0; i < operation->input_count; i++) {
        meets_array |= operands[i].data && operands[i].weakness == LW_STRONG && operation->inputs[i].dtype < 0 &&
                       !lw_is_numpy_scalar(&operands[i]);
    }
    for (int i = 0; i < operation->input_count; i++) {
        lw_operand *operand = &operands[i];
        if (meets_array && operand->data && lw_is_numpy_scalar(operand) && operation->inputs[i].dtype < 0) {
            lw_weaken_operand(operand);
        }
    }
}

/* Returns whether a kernel of the CPU converts an operand to `read_dtype` itself. */
static int converts(const lw_plan *plan, const lw_operand *operand, int dtype, int read_dtype) {
    return operand->dtype != read_dtype && operand->weakness == LW_STRONG && !operand->is_copied &&
           !plan->operation->moves && lw_is_host(plan->placement.backend) && !lw_is_rounded(operand, dtype, read_dtype);
}

/* Converts every operand to what the kernel of `dtype` reads, or to the dtype that the contract fixes. Fills in absent
 * inputs. Returns a bit for each operand that the kernel converts, or -1 with an error set. */
static int convert_operands(lw_plan *plan, int dtype) {
    const lw_operation *operation = plan->operation;
    int read_dtype = lw_read_dtype(operation, dtype), left = 0;
    for (int i = 0; i < operation->input_count; i++) {
        const lw_input *input = &operation->inputs[i];
        lw_operand *operand = &plan->operands[i];
        int promoted = input->dtype >= 0 ? input->dtype : dtype, read = input->dtype >= 0 ? input->dtype : read_dtype;
        int status = 0;
        if (!operand->data) {
            status = fill_absent(input, operand, read_dtype);
        } else if (operand->weakness != LW_STRONG && lw_is_host(plan->placement.backend)) {
            /* Stored as the arrays are, so that a kernel that computes in their dtype can take it. */
            status = lw_convert_operand(operand, promoted);
        }
        if (status == 0 && converts(plan, operand, promoted, read)) {
            left |= 1 << i;
        } else if (status == 0) {
            status = lw_promote_operand(operand, promoted, read);
        }
        if (status < 0) {
            return -1;
        }
    }
    return left;
}

/* Has the kernel convert the result, if it is one of the CPU. */
static void convert_result(lw_plan *plan, int *converted) {
    if (plan->dtype != plan->result_dtype && lw_is_host(plan->placement.backend)) {
        plan->dtype = plan->result_dtype;
        *converted |= 1 << plan->operation->input_count;
    }
}

/* Tells the kernel which operands it has to convert. */
static void set_conversions(lw_plan *plan, int converted) {
    plan->layout.converted = (uint32_t)converted;
    for (int i = 0; converted >> i; i++) {
        plan->layout.dtypes[i] = i < plan->operation->input_count ? plan->operands[i].dtype : plan->dtype;
    }
}

/* Raises an error, and returns 1, for a negative int exponent of an integer power, as NumPy does. Exponents in an array
 * are not checked. */
static int refuses_negative_power(const lw_operation *operation, const lw_operand *operands, int dtype) {
    if (operation != &lw_operations[LW_OPERATION_pow] || lw_is_floating(dtype) || operands[1].weakness != LW_WEAK_INT ||
        operands[1].scalar.i >= 0) {
        return 0;
    }
    lw_raise(LW_ARGUMENT_ERROR,
             "expected an exponent of at least 0 for %s, got %lld; give it as a float, %lld.0, or convert the base "
             "to a float dtype with astype",
             lw_dtype_name(dtype), (long long)operands[1].scalar.i, (long long)operands[1].scalar.i);
    return 1;
}

/* Returns the operation that computes a power with a Python number in one instruction: square for x ** 2, and for
 * floats reciprocal for x ** -1; NULL if there is none. sqrt is not x ** 0.5, which is infinity for -infinity. */
static const lw_operation *simple_power(const lw_operation *operation, const lw_operand *operands, int dtype) {
    if (operation != &lw_operations[LW_OPERATION_pow] || operands[0].weakness != LW_STRONG) {
        return NULL;
    }
    const lw_operand *exponent = &operands[1];
    double value = exponent->weakness == LW_WEAK_INT     ? (double)exponent->scalar.i
                   : exponent->weakness == LW_WEAK_FLOAT ? exponent->scalar.f
                                                         : 0;
    return value == 2                             ? &lw_operations[LW_OPERATION_square]
           : value == -1 && lw_is_floating(dtype) ? &lw_operations[LW_OPERATION_reciprocal]
                                                  : NULL;
}

int lw_resolve_elementwise(const lw_arguments *arguments, lw_plan *plan) {
    const lw_operation *operation = plan->operation;
    lw_operand *operands = plan->operands;
    int count = operation->input_count;
    if (operation->parameter_count && lw_parse_kernel_parameters(arguments, plan->parameters) < 0) {
        return -1;
    }
    weaken_numpy_scalars(operation, operands);
    int variant = operation->variant_parameter < 0 ? 0 : (int)plan->parameters[operation->variant_parameter].i;
    int promoted = resolve_comparison(operation, operands, lw_promoted_dtype(operation, operands, count));
    int dtype = promoted < 0 ? -1 : lw_kernel_dtype(operation, variant, promoted, operands, count);
    if (dtype < 0 || refuses_negative_power(operation, operands, dtype)) {
        return -1;
    }
    const lw_operation *simple = simple_power(operation, operands, dtype);
    if (simple) {
        plan->operation = simple;
        count = 1;
    }
    int converted = convert_operands(plan, dtype);
    if (converted < 0 || lw_set_kernel(plan, variant, dtype) < 0) {
        return -1;
    }
    convert_result(plan, &converted);
    int64_t broadcast[LW_MAX_NDIM];
    const int64_t *shape = operands[0].shape;
    int ndim = operands[0].ndim;
    if (!lw_is_one_row(operands + 1, count - 1, ndim, shape)) {
        shape = broadcast;
        ndim = lw_broadcast_shape(operands, count, broadcast);
    }
    int like = arguments && arguments->out ? 0 : count; /* `out` is row-major */
    if (ndim < 0 || lw_set_result_like(plan, ndim, shape, operands, like) < 0) {
        return -1;
    }
    lw_plan_elements(plan);
    set_conversions(plan, converted);
    return 0;
}
