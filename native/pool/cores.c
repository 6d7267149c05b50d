/* Counts the processors that this process may use. Containers limit CPU time, not processors: a quota of 200 ms per
 * period of 100 ms is worth two processors, however many the machine has. The tightest limit of a control group and its
 * ancestors applies. A limit is rounded up to whole processors: rounded down, its fraction would never be used. */
#if defined(__linux__)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "pool/cores.h"

#if defined(_WIN32)

#include <stdint.h>

void *__stdcall GetCurrentProcess(void);
int __stdcall GetProcessAffinityMask(void *, uintptr_t *, uintptr_t *);

/* Counts only the processors of the process's primary processor group: by default, versions of Windows before
 * Windows 11 and Windows Server 2022 do not schedule the threads of a process on other groups. */
int lw_usable_cores(int *has_quota) {
    *has_quota = 0;
    uintptr_t own, system;
    int cores = GetProcessAffinityMask(GetCurrentProcess(), &own, &system) ? __builtin_popcountll(own) : 0;
    return cores > 0 ? cores : 1;
}

#elif !defined(__linux__)

#include <unistd.h>

int lw_usable_cores(int *has_quota) {
    *has_quota = 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

#else

#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096, MAX_PROCESSORS = 1 << 14 };

/* Reads up to two numbers from a file. If the file is missing or begins with the word "max", leaves the variables
 * unchanged. */
static void read_numbers(const char *root, const char *folder, const char *group, const char *name, long long *first,
                         long long *second) {
    char path[3 * PATH_BYTES], text[64];
    snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s/%s", root, folder, group, name);
    FILE *file = fopen(path, "r");
    if (!file) {
        return;
    }
    if (fgets(text, sizeof text, file)) {
        sscanf(text, "%lld %lld", first, second);
    }
    fclose(file);
}

/* Returns the limit of one control group in processors; 0 if the group has no limit, or one that is larger than any
 * machine. */
static double group_limit(const char *root, const char *group, int is_unified) {
    long long quota = 0, period = 0, unused = 0;
    if (is_unified) {
        read_numbers(root, "", group, "cpu.max", &quota, &period);
    } else {
        read_numbers(root, "/cpu", group, "cpu.cfs_quota_us", &quota, &unused);
        read_numbers(root, "/cpu", group, "cpu.cfs_period_us", &period, &unused);
    }
    return quota > 0 && period > 0 && quota / period < MAX_PROCESSORS ? (double)quota / (double)period : 0;
}

static double smaller_limit(double a, double b) { return a == 0 || (b > 0 && b < a) ? b : a; }

/* Returns the limit from one line of /proc/self/cgroup, whose format is number:controllers:path. A line of cgroup v2
 * names no controllers. The loop visits the group and its ancestors up to the root of the mounted hierarchy. In a
 * container, the path may be the one that the group has on the host. Then none of the visited folders exists except
 * the root, which is the container's own group. */
static double line_limit(const char *root, const char *line) {
    char controllers[PATH_BYTES], group[PATH_BYTES];
    const char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
    if (!path || path[1] != '/') {
        return 0;
    }
    snprintf(controllers, sizeof controllers, ",%.*s,", (int)(path - names - 1), names + 1);
    snprintf(group, sizeof group, "%s", path + 1);
    double limit = 0;
    int is_unified = path == names + 1;
    if (!is_unified && !strstr(controllers, ",cpu,")) {
        return 0;
    }
    for (char *end = group + strcspn(group, "\n"); end; end = strrchr(group, '/')) {
        *end = 0;
        limit = smaller_limit(limit, group_limit(root, group, is_unified));
    }
    return limit;
}

double lw_control_group_cores(const char *root) {
    char line[PATH_BYTES];
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *file = fopen(line, "r");
    double limit = 0;
    while (file && fgets(line, sizeof line, file)) {
        limit = smaller_limit(limit, line_limit(root, line));
    }
    if (file) {
        fclose(file);
    }
    return limit;
}

int lw_limit_cores(int cores, double limit, int *has_quota) {
    *has_quota = limit > 0 && limit < cores;
    return *has_quota ? (int)limit + ((int)limit < limit) : cores;
}

static int affinity(void) {
    cpu_set_t set[MAX_PROCESSORS / CPU_SETSIZE];
    return sched_getaffinity(0, sizeof set, set) == 0 ? CPU_COUNT_S(sizeof set, set) : 1;
}

int lw_usable_cores(int *has_quota) { return lw_limit_cores(affinity(), lw_control_group_cores(""), has_quota); }

#endif
