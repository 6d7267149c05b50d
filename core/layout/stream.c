#include "layout/stream.h"

#include "paths.h"

void stream_copy(char *to, const char *from, int64_t count) {
    int64_t lead = stream_lead(to), done = 0;
    PATH_IF(SIMD_STREAM && lead > 0, "stream: before the first whole line");
    PATH_IF(SIMD_STREAM && count >= lead + STREAM_LINE, "stream: whole lines");
    PATH_IF(SIMD_STREAM && count > lead && (count - lead) % STREAM_LINE, "stream: after the last whole line");
    for (; done < lead && done < count; done++) {
        to[done] = from[done];
    }
    for (; done <= count - STREAM_LINE; done += STREAM_LINE) {
        for (int64_t i = done; i < done + STREAM_LINE; i += sizeof(vi32)) {
            vi32_stream((int32_t *)(to + i), vi32_load((const int32_t *)(from + i)));
        }
    }
    for (; done < count; done++) {
        to[done] = from[done];
    }
}
