/* Addresses that stand for blocks of memory that the host cannot access, such as buffers of WebGPU. Host code
 * computes with them as with its own: it adds offsets, and finds the block again. They lie in a range that no host
 * memory has. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct lw_block {
    char *data; /* address of the first byte; a multiple of LW_BLOCK_ALIGNMENT */
    size_t bytes;
    int is_part;     /* of a storage that has several blocks, whose addresses follow each other */
    uint32_t number; /* differs from the numbers of all other blocks, also of those that have been removed */
    int64_t batch;   /* for the owner of the table */
} lw_block;

/* A table of blocks, in the order of their addresses. Initialize it with zeros. */
typedef struct lw_addresses {
    lw_block *blocks;
    size_t count, capacity;
    uint32_t last_number;
} lw_addresses;

enum { LW_BLOCK_ALIGNMENT = 256 };

/* Adds a block. Returns NULL if the host has no memory for the table, or if the addresses are used up. The pointer is
 * valid until the table changes. */
lw_block *lw_add_block(lw_addresses *addresses, size_t bytes);
/* Returns the block that contains an address, or NULL if there is none. */
lw_block *lw_find_block(const lw_addresses *addresses, const char *data);
void lw_remove_block(lw_addresses *addresses, lw_block *block);
