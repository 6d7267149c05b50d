/* Marks data that the files of the extension share. -fvisibility=hidden covers definitions only: without the attribute
 * on the declaration, other files would access the data through the global offset table, and LLVM 14 would export it
 * from a WebAssembly module. */
#pragma once

#define LW_HIDDEN extern __attribute__((visibility("hidden")))
