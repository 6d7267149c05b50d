"""The limits of a processor or WebAssembly engine: loops in C, and what measures with them."""
