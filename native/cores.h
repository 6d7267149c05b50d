/* The number of processors that this process may use. */
#pragma once

/* Returns the number of processors in the affinity mask, or fewer if a control group limits CPU time; at least 1. On
 * systems other than Linux and Windows, returns the number of processors that are online. Stores in `has_quota` whether
 * a control group gives this process less CPU time than the processors in its affinity mask have. */
int lw_usable_cores(int *has_quota);

#if defined(__linux__)
/* Returns the tightest CPU limit of this process's control groups, in processors, which may be a fraction; 0 if there
 * is no limit. Reads files under `root`, which is "" except in tests. */
double lw_control_group_cores(const char *root);

/* Applies a CPU limit, or 0 for none, to a number of processors: returns the smaller of the two, rounded up. Stores in
 * `has_quota` whether the limit is the smaller one. */
int lw_limit_cores(int cores, double limit, int *has_quota);
#endif
