/* Launches of plans on WebGPU: how the layout and the parameters of a plan become dispatches of WGSL kernels. */
#pragma once

#include "plan/plan.h"
#include "webgpu/recorder.h"

enum {
    LW_WGSL_OPERANDS = 4, /* of most kernels, the result included: one per component of a vec4 */
    LW_WGSL_GROUP = 256   /* invocations of a workgroup, in kernels that compute element by element */
};

/* One launch, and the dispatch that is recorded next. After a failure, `status` says what failed, and nothing more is
 * recorded. */
typedef struct lw_webgpu_launch {
    lw_recorder *recorder;
    const lw_plan *plan;
    int64_t launch_id;
    char *const *outputs;
    lw_status status;
    lw_storage *scratch; /* released once its dispatches are recorded: later launches reuse it only after them */
    lw_dispatch dispatch;
    const char *bindings[LW_MAX_BINDINGS];   /* the inputs, the result, the scratch memory */
    uint32_t parameters[LW_PARAMETER_WORDS]; /* a struct of webgpu/kinds, with the offsets of the operands first */
} lw_webgpu_launch;

/* A launcher records what a plan of one kind needs. */
typedef void lw_webgpu_launcher(lw_webgpu_launch *launch);
lw_webgpu_launcher lw_webgpu_elementwise, lw_webgpu_reduction, lw_webgpu_rows, lw_webgpu_matrix, lw_webgpu_window,
    lw_webgpu_attention, lw_webgpu_rotation, lw_webgpu_gather, lw_webgpu_sort, lw_webgpu_search, lw_webgpu_creation;

/* Returns whether an operand or a result has elements in more than one block. */
int lw_webgpu_crosses_blocks(const lw_webgpu_launch *launch);
/* Launches such a plan as several, of which none crosses blocks, or refuses it if its kind does not allow that. */
void lw_webgpu_launch_parts(lw_webgpu_launch *launch, lw_webgpu_launcher *launcher);

/* Lets a new recorder run chains as one kernel. Returns 0, or -1 with an error set. */
int lw_webgpu_begin_chains(lw_recorder *recorder);

static inline int64_t lw_divide_up(int64_t number, int64_t by) { return (number + by - 1) / by; }

/* Records the dispatch. */
void lw_webgpu_record(lw_webgpu_launch *launch);
/* Sets how many workgroups the dispatch has, but not more than the device allows: kernels loop. */
void lw_webgpu_set_groups(lw_webgpu_launch *launch, int64_t x, int64_t y, int64_t z);
/* Records the dispatch with so many workgroups in a row. */
void lw_webgpu_record_groups(lw_webgpu_launch *launch, int64_t count);
/* The same with workgroups for `count` invocations. */
void lw_webgpu_record_invocations(lw_webgpu_launch *launch, int64_t count);
uint32_t lw_webgpu_at_most(const lw_webgpu_launch *launch, int64_t groups);
/* Binds the operands, and fills in the offsets of the inputs. Returns that of the result. `numbers` is where inputs
 * that are numbers go, or NULL if there are none. */
uint32_t lw_webgpu_bind(lw_webgpu_launch *launch, uint32_t (*numbers)[2]);
/* Encodes the parameters of an operation: floats as float32, all others as int32. Returns how many there are. */
int lw_webgpu_encode_scalars(const lw_operation *operation, const lw_scalar *parameters,
                             uint32_t scalars[LW_WGSL_OPERANDS]);
/* Copy numbers to parameters, which hold them modulo 2^32: `count` of them, or the strides of the first `operands`
 * operands along `ndim` dimensions, of which those along one dimension become a vec4. */
void lw_webgpu_narrow(uint32_t *to, const int64_t *from, int count);
void lw_webgpu_narrow_strides(uint32_t (*to)[LW_WGSL_OPERANDS], const int64_t (*from)[LW_MAX_NDIM], int operands,
                              int ndim);
/* Refuses a launch, with the message of the error. */
void lw_webgpu_refuse(lw_webgpu_launch *launch, const char *message);
void lw_webgpu_refuse_size(lw_webgpu_launch *launch);
/* Refuses a dispatch in which `groups` workgroups or invocations share `count` rows, tiles or elements, each with
 * `rounds` of loops, if the device ends loops before that. Leaving a loop counts as one. */
void lw_webgpu_check_rounds(lw_webgpu_launch *launch, int64_t count, int64_t groups, int64_t rounds);
/* Binds new scratch memory, in place of that of earlier dispatches. */
void lw_webgpu_bind_scratch(lw_webgpu_launch *launch, int64_t bytes);
void lw_webgpu_release_scratch(lw_webgpu_launch *launch);
