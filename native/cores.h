/* The number of processors that this process may use. */
#pragma once

/* Returns the number of processors in the affinity mask, or fewer if a control group limits CPU time; at least 1. On
 * systems other than Linux and Windows, returns the number of processors that are online. Stores in `has_quota` whether
 * a control group gives this process less CPU time than the processors in its affinity mask have. */
int lw_usable_cores(int *has_quota);

#if defined(__linux__)
/* Returns how many processors the CPU limits of this process's control groups are worth; 0 if there is no limit. Reads
 * files under `root`, which is "" except in tests. */
double lw_control_group_cores(const char *root);

/* Returns the smaller of two numbers of processors, rounded up; `limit` is 0 if there is none. Stores in `has_quota`
 * whether it is `limit`. */
int lw_limit_cores(int cores, double limit, int *has_quota);
#endif
