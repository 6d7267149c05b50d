/* Opens dynamic libraries. */
#pragma once

/* Returns NULL if the file cannot be opened. Libraries are never closed. */
void *lw_open_dynamic(const char *path);
void *lw_find_symbol(void *library, const char *name);
/* Returns why the last library could not be opened. The text is valid until the next failure. */
const char *lw_dynamic_error(void);
