/* Marks data, and functions whose address is taken, that the files of the extension share. -fvisibility=hidden covers
 * definitions only: without the attribute on the declaration, other files would access them through the global offset
 * table, and LLVM 14 would export them from a WebAssembly module. */
#pragma once

#define LW_HIDDEN extern __attribute__((visibility("hidden")))
