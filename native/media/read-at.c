#include "media.h"
#include <errno.h>
#include <unistd.h>

// Reads up to `length` bytes of the file on stdin from the offset `at`. Returns the number of bytes, or 0 at the end of
// the file. The position in the file stays unchanged.
int input_read_at(int64_t at, uint8_t *bytes, int length)
{
    for (int filled = 0;;) {
        ssize_t count = pread(STDIN_FILENO, bytes + filled, (size_t)(length - filled), at + filled);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return filled;
        filled += (int)count;
        if (filled == length)
            return filled;
    }
}
