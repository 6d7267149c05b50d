/* The number of processors that this process may use. */
#pragma once

/* Returns the number of processors in the affinity mask, or fewer if a control group limits CPU time; at least 1. On
 * systems other than Linux and Windows, returns the number of processors that are online. Stores in `has_quota` whether
 * a control group gives this process less CPU time than the processors in its affinity mask have. */
int lw_usable_cores(int *has_quota);

#if defined(__linux__)
/* Returns the lowest CPU limit among this process's control groups as a number of processors, which need not be whole,
 * or 0 if there is none. Only tests pass a `root` other than "": the folder under which proc/ and sys/ are read. */
double lw_control_group_cores(const char *root);

/* Applies a CPU limit, or 0 for none, to a number of processors: returns the smaller of the two, rounded up. Stores in
 * `has_quota` whether the limit is the smaller one. */
int lw_limit_cores(int cores, double limit, int *has_quota);
#endif
