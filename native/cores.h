/* How many processors this process may keep busy. */
#pragma once

/* Those that its affinity names, or fewer where a control group limits its time; at least 1. */
int lw_usable_cores(void);

#if defined(__linux__)
/* The limit of the control groups, rounded up, or 0 where there is none. Files are looked for under `root`, "" but in
 * tests. */
int lw_control_group_cores(const char *root);
#endif
