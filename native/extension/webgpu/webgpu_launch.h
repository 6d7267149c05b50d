/* Launches of plans on WebGPU: how the layout and the parameters of a plan become dispatches of WGSL kernels. */
#pragma once

#include "plan/plan.h"
#include "webgpu/recorder.h"

enum {
    LW_WGSL_OPERANDS = 4, /* of most kernels, the result included: one per component of a vec4 */
    LW_WGSL_GROUP = 256   /* invocations of a workgroup, in kernels that compute element by element */
};

/* One launch, and the dispatch that is recorded next. */
typedef struct lw_webgpu_launch {
    lw_recorder *recorder;
    const lw_plan *plan;
    int64_t launch_id;
    char *const *outputs;
    lw_dispatch dispatch;
    const char *bindings[LW_MAX_BINDINGS];   /* the inputs, the result, the scratch memory */
    uint32_t parameters[LW_PARAMETER_WORDS]; /* a struct of webgpu/kinds, with the offsets of the operands first */
} lw_webgpu_launch;

/* A launcher records what a plan of one kind needs. */
typedef lw_status lw_webgpu_launcher(lw_webgpu_launch *launch);
lw_webgpu_launcher lw_webgpu_elementwise, lw_webgpu_reduction, lw_webgpu_rows, lw_webgpu_matrix, lw_webgpu_window,
    lw_webgpu_attention, lw_webgpu_rotation, lw_webgpu_gather, lw_webgpu_search, lw_webgpu_creation;

/* Returns whether an operand or a result has elements in more than one block. */
int lw_webgpu_crosses_blocks(const lw_webgpu_launch *launch);
/* Launches such a plan as several, of which none crosses blocks, or refuses it if its kind does not allow that. */
lw_status lw_webgpu_launch_parts(const lw_webgpu_launch *launch, lw_webgpu_launcher *launcher);

/* Lets a new recorder run chains as one kernel. Returns 0, or -1 with an error set. */
int lw_webgpu_begin_chains(lw_recorder *recorder);

/* Records the dispatch. */
lw_status lw_webgpu_record(lw_webgpu_launch *launch);
/* Records the dispatch with a workgroup for each `count`, but not more than the device allows: kernels loop. */
lw_status lw_webgpu_record_groups(lw_webgpu_launch *launch, int64_t count);
/* The same with workgroups for `count` invocations. */
lw_status lw_webgpu_record_invocations(lw_webgpu_launch *launch, int64_t count);
uint32_t lw_webgpu_at_most(const lw_webgpu_launch *launch, int64_t groups);
/* Binds the operands, and fills in the offsets of the inputs. Returns that of the result. `numbers` is where inputs
 * that are numbers go, or NULL if there are none. */
uint32_t lw_webgpu_bind(lw_webgpu_launch *launch, uint32_t (*numbers)[2]);
/* Encodes the parameters of an operation: floats as float32, all others as int32. Returns how many there are. */
int lw_webgpu_encode_scalars(const lw_operation *operation, const lw_scalar *parameters,
                             uint32_t scalars[LW_WGSL_OPERANDS]);
/* Sets the message of the error of a launch that is refused. Returns LW_REFUSED. */
lw_status lw_webgpu_refuse(const lw_webgpu_launch *launch, const char *message);
lw_status lw_webgpu_refuse_size(lw_webgpu_launch *launch);
/* Refuses a dispatch in which `groups` workgroups or invocations share `count` rows, tiles or elements, each with
 * `rounds` of loops, if the device ends loops before that. Otherwise returns LW_OK. Leaving a loop counts as one. */
lw_status lw_webgpu_check_rounds(lw_webgpu_launch *launch, int64_t count, int64_t groups, int64_t rounds);
/* Binds new scratch memory. Returns NULL with an error set on failure. The caller releases it once the dispatches
 * that use it are recorded: later launches reuse it only after them. */
lw_storage *lw_webgpu_bind_scratch(lw_webgpu_launch *launch, int64_t bytes);
