#include "layout/strided.h"

#include "paths.h"

void copy_strided(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count, int32_t size) {
    if (to_step == size && from_step == size) { /* constant steps let the compiler vectorize the loop */
        PATH("strided: contiguous");
        copy_strided_8(to, 1, from, 1, count * size);
    } else if (size == 1) {
        PATH("strided: 1 byte");
        copy_strided_8(to, to_step, from, from_step, count);
    } else if (size == 2) {
        PATH("strided: 2 bytes");
        copy_strided_16(to, to_step, from, from_step, count);
    } else if (size == 4) {
        PATH("strided: 4 bytes");
        copy_strided_32(to, to_step, from, from_step, count);
    } else {
        PATH("strided: 8 bytes");
        copy_strided_64(to, to_step, from, from_step, count);
    }
}
