/* Runs chains as one kernel on WebGPU. A key describes the kernel: all of a chain but its addresses, numbers and
 * extents. A chain that is seen for the second time is compiled: lanewise/webgpu/chains.py makes WGSL from its key. The
 * MAX_KERNELS kernels that were used last are kept. A chain whose kernel was destroyed is compiled again, but each time
 * has to be seen twice as often first, so that programs with more chains than that do not compile all the time.
 *
 * A key consists of bytes: the number of buffers and of dimensions; for each buffer the binary logarithm of its item's
 * size, plus 16 times a pattern; and for each node
 *   the index of its kernel, in two bytes, low byte first;
 *   the binary logarithm of the size of its result's item, plus 16 if the result is stored;
 *   the number of its parameters;
 *   for each input the number of an earlier node, or NODES plus that of a buffer, or NUMBER.
 * The words of the kernel's parameters are the offsets of the buffers; if there are dimensions, their extents, and the
 * strides of each strided buffer; and for each node its inputs that are numbers, in one or two words, and its
 * parameters. */
#include "device/chain.h"
#include "webgpu/webgpu_launch.h"
#include <stdlib.h>
#include <string.h>

enum { NODES = LW_CHAIN_NODES, NUMBER = 255 }; /* in keys */
enum { FLAT, SINGLE, STRIDED };                /* patterns of buffers: as the results, one element, any other */
enum { KEY_BYTES = 320, FIRST_WORD = 4, TABLE = 1024, PROBES = 16 };
enum { MAX_KERNELS = 128, MAX_PATIENCE = 1 << 20 };

_Static_assert(2 + LW_CHAIN_BUFFERS + LW_CHAIN_NODES * (4 + LW_MAX_INPUTS) <= KEY_BYTES, "a key must have room");

typedef enum state { UNCOMPILED, FAILED, COMPILING, READY } state; /* the last two have a kernel */

struct lw_known_chain {
    state state;
    int seen, patience; /* how often it ran without a kernel, and how often it does so before it is compiled */
    int64_t last_used;  /* lw_recorder.fuse_count */
    uint32_t number;    /* of the kernel */
    size_t length;
    uint8_t key[KEY_BYTES];
};

/* A chain as the player gets it. */
typedef struct encoded {
    size_t length;
    uint8_t key[KEY_BYTES];
    int word_count, binding_count;
    uint32_t words[LW_PARAMETER_WORDS];
    const char *bindings[LW_MAX_BINDINGS];
} encoded;

static uint8_t log2_size(int dtype) { return (uint8_t)__builtin_ctz((unsigned)lw_item_size(dtype)); }

/* Adds a word to the parameters, unless they are full. */
static void add_word(encoded *to, uint32_t word) {
    if (to->word_count < LW_PARAMETER_WORDS) {
        to->words[to->word_count] = word;
    }
    to->word_count++;
}

static int pattern_of(const lw_chain *chain, const lw_chain_buffer *buffer, uint32_t offset) {
    int64_t item = lw_item_size(buffer->dtype), step = item;
    int is_flat = offset % (4 * item) == 0, is_single = 1;
    for (int axis = chain->ndim - 1; axis >= 0; axis--) {
        if (chain->shape[axis] > 1) {
            is_flat = is_flat && buffer->strides[axis] == step;
            is_single = is_single && buffer->strides[axis] == 0;
        }
        step *= chain->shape[axis];
    }
    return is_flat ? FLAT : is_single ? SINGLE : STRIDED;
}

/* Encodes the buffers. Returns 0 if too many are strided. */
static int encode_buffers(const lw_recorder *recorder, const lw_chain *chain, encoded *to) {
    int64_t strides[LW_MAX_OPERANDS][LW_MAX_NDIM];
    int strided = 0;
    lw_layout layout = {.ndim = 0};
    for (int i = 0; i < chain->buffer_count; i++) {
        const lw_chain_buffer *buffer = &chain->buffers[i];
        uint32_t offset = (uint32_t)(buffer->data - lw_find_block(&recorder->addresses, buffer->data)->data);
        int pattern = pattern_of(chain, buffer, offset);
        to->bindings[to->binding_count++] = buffer->data;
        to->key[to->length++] = (uint8_t)(log2_size(buffer->dtype) + 16 * pattern);
        add_word(to, offset);
        if (pattern == STRIDED) {
            if (strided == LW_MAX_OPERANDS) {
                return 0;
            }
            memcpy(strides[strided++], buffer->strides, sizeof buffer->strides);
        }
    }
    if (strided) {
        lw_collapse(&layout, chain->ndim, 0, chain->shape, strided, (const int64_t (*)[LW_MAX_NDIM])strides);
    }
    to->key[1] = (uint8_t)layout.ndim;
    for (int axis = 0; axis < layout.ndim; axis++) {
        add_word(to, (uint32_t)layout.shape[axis]);
    }
    for (int i = 0; i < strided; i++) {
        for (int axis = 0; axis < layout.ndim; axis++) {
            add_word(to, (uint32_t)layout.strides[i][axis]);
        }
    }
    return 1;
}

static void encode_node(const lw_node *node, const uint8_t *numbers, encoded *to) {
    uint32_t scalars[LW_WGSL_OPERANDS];
    int count = lw_webgpu_encode_scalars(node->operation, node->parameters, scalars);
    uint8_t head[] = {(uint8_t)node->kernel, (uint8_t)(node->kernel >> 8),
                      (uint8_t)(log2_size(node->dtype) + 16 * node->is_in_use), (uint8_t)count};
    memcpy(to->key + to->length, head, sizeof head);
    to->length += sizeof head;
    for (int i = 0; i < node->operation->input_count; i++) {
        const lw_node_input *input = &node->inputs[i];
        int is_number = input->node < 0 && input->buffer < 0;
        to->key[to->length++] = is_number          ? NUMBER
                                : input->node >= 0 ? numbers[input->node]
                                                   : (uint8_t)(NODES + input->buffer);
        uint32_t words[2];
        memcpy(words, &input->number, sizeof words);
        for (int j = 0; is_number && j < (lw_item_size(input->dtype) == 8 ? 2 : 1); j++) {
            add_word(to, words[j]);
        }
    }
    for (int i = 0; i < count; i++) {
        add_word(to, scalars[i]);
    }
}

/* Returns 0 if the chain does not fit into the parameters of a dispatch. */
static int encode(const lw_recorder *recorder, const lw_chain *chain, encoded *to) {
    uint8_t numbers[LW_CHAIN_NODES], count = 0; /* of the nodes that are needed */
    *to = (encoded){.length = 2, .word_count = FIRST_WORD, .words = {(uint32_t)chain->size}};
    to->key[0] = (uint8_t)chain->buffer_count;
    if (!encode_buffers(recorder, chain, to)) {
        return 0;
    }
    for (int i = 0; i < chain->node_count; i++) {
        if (chain->nodes[i].is_needed) {
            numbers[i] = count++;
            encode_node(&chain->nodes[i], numbers, to);
        }
    }
    return to->word_count <= LW_PARAMETER_WORDS;
}

/* Returns whether a thread is compiling the kernel or launching it. */
static int is_in_use(const lw_recorder *recorder, const lw_known_chain *known) {
    const lw_chain *chain = recorder->device.ending;
    while (chain && chain->kernel != known->number) {
        chain = chain->next;
    }
    return known->state >= COMPILING && chain;
}

/* Returns which of `count` entries of the table was used least recently, from entry `first` on, of those that have this
 * state or a later one. Returns NULL if all of them are in use. */
static lw_known_chain *least_recently_used(lw_recorder *recorder, uint32_t first, uint32_t count, state state) {
    lw_known_chain *found = NULL;
    for (uint32_t i = 0; i < count; i++) {
        lw_known_chain *known = &recorder->chains[(first + i) % TABLE];
        if (known->state >= state && (!found || known->last_used < found->last_used) && !is_in_use(recorder, known)) {
            found = known;
        }
    }
    return found;
}

static void destroy_kernel(lw_recorder *recorder, lw_known_chain *known) {
    if (known->state >= COMPILING) {
        lw_destroy_later(recorder, known->number);
        recorder->device.counters[LW_CHAINS_KEPT]--;
        known->state = UNCOMPILED;
        known->seen = 0;
        known->patience *= known->patience < MAX_PATIENCE ? 2 : 1;
    }
}

/* Returns the entry of a key in the table, a new one if there is none. It is among the PROBES entries from the one that
 * the key's hash (FNV-1a) says. Returns NULL if all of these are in use. */
static lw_known_chain *find(lw_recorder *recorder, const encoded *chain) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < chain->length; i++) {
        hash = (hash ^ chain->key[i]) * 16777619u;
    }
    for (uint32_t probe = 0; probe < PROBES; probe++) {
        lw_known_chain *known = &recorder->chains[(hash + probe) % TABLE];
        if (known->length == chain->length && memcmp(known->key, chain->key, chain->length) == 0) {
            return known;
        }
    }
    lw_known_chain *known = least_recently_used(recorder, hash % TABLE, PROBES, UNCOMPILED);
    if (known) {
        destroy_kernel(recorder, known);
        *known = (lw_known_chain){.patience = 1, .length = chain->length};
        memcpy(known->key, chain->key, chain->length);
    }
    return known;
}

/* Gives a chain a number for its kernel. Destroys others, so that no more than MAX_KERNELS are left. */
static void begin_compiling(lw_recorder *recorder, lw_known_chain *known) {
    lw_known_chain *other;
    while (recorder->device.counters[LW_CHAINS_KEPT] >= MAX_KERNELS &&
           (other = least_recently_used(recorder, 0, TABLE, COMPILING))) {
        destroy_kernel(recorder, other);
    }
    known->state = COMPILING;
    known->number = LW_FIRST_CHAIN + recorder->chain_count++;
    recorder->device.counters[LW_CHAINS_KEPT]++;
}

static int fuse(lw_device *device, lw_chain *chain) {
    lw_recorder *recorder = (lw_recorder *)device;
    encoded encoded;
    int has_key = chain->needed_count > 1 && encode(recorder, chain, &encoded);
    lw_known_chain *known = has_key ? find(recorder, &encoded) : NULL;
    if (!known) {
        return 0;
    }
    known->last_used = ++recorder->fuse_count;
    if (known->state == FAILED || (known->state == UNCOMPILED && known->seen++ < known->patience)) {
        return 0;
    }
    if (known->state == UNCOMPILED) {
        begin_compiling(recorder, known);
    }
    chain->kernel = known->number;
    int compiled = 0;
    if (known->state == COMPILING) {
        compiled = lw_recorder_compile(recorder, known->number, known->key, known->length);
        if (known->state == COMPILING && compiled == 1) { /* another thread may have compiled it meanwhile */
            known->state = READY;
            device->counters[LW_CHAINS_COMPILED]++;
        } else if (known->state == COMPILING && compiled == -1) {
            destroy_kernel(recorder, known);
            known->state = FAILED;
        }
    }
    chain->kernel = known->state == READY && compiled > -2 ? known->number : 0;
    return compiled == -2 ? -1 : 0;
}

static lw_status launch_chain(lw_device *device, const lw_chain *chain, int64_t launch_id) {
    enum { ELEMENTS = 4 }; /* that an invocation computes */
    lw_recorder *recorder = (lw_recorder *)device;
    if (device->is_lost) {
        return LW_DEVICE_ERROR;
    }
    encoded encoded;
    encode(recorder, chain, &encoded);
    lw_webgpu_launch launch = {
        .recorder = recorder, .launch_id = launch_id, .dispatch = {.kernel = chain->kernel, .groups = {1, 1, 1}}};
    for (int i = 0; i < chain->node_count; i++) {
        if (chain->nodes[i].is_in_use) {
            encoded.bindings[encoded.binding_count++] = chain->nodes[i].block->data;
        }
    }
    memcpy(launch.bindings, encoded.bindings, sizeof launch.bindings);
    memcpy(launch.parameters, encoded.words, sizeof launch.parameters);
    lw_webgpu_record_invocations(&launch, lw_divide_up(chain->size, ELEMENTS));
    double nanoseconds = (double)chain->size * encoded.binding_count; /* one per element of each buffer */
    return launch.status == LW_OK ? lw_add_work(recorder, nanoseconds) : launch.status;
}

int lw_webgpu_begin_chains(lw_recorder *recorder) {
    recorder->chains = calloc(TABLE, sizeof *recorder->chains);
    recorder->device.fuse = fuse;
    recorder->device.launch_chain = launch_chain;
    return recorder->chains ? 0 : lw_refuse_memory();
}
