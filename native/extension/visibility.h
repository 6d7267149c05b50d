/* Data that the files of the extension share. -fvisibility speaks of definitions alone: without a word in the
 * declaration the others would reach it through a table that the loader fills, and LLVM 14 would export it from a
 * WebAssembly module. */
#pragma once

#define LW_HIDDEN extern __attribute__((visibility("hidden")))
