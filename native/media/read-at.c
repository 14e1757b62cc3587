#include "media.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

// Reads up to `length` bytes of the file on stdin from the offset `at`. Returns the number of bytes, or 0 at the end of
// the file. The position in the file stays unchanged. Ends the process if the file cannot be read.
int input_read_at(int64_t at, uint8_t *bytes, int length)
{
    for (int filled = 0;;) {
        ssize_t count = pread(STDIN_FILENO, bytes + filled, (size_t)(length - filled), at + filled);
        if (count < 0 && errno == EINTR)
            continue;
        // EINVAL is the answer to an impossible offset, which a damaged file can ask for. Any other error comes from
        // the disk, so it does not mean the end of the file.
        if (count < 0 && errno != EINVAL)
            fail("the file cannot be read");
        if (count <= 0)
            return filled;
        filled += (int)count;
        if (filled == length)
            return filled;
    }
}

// Returns the size of the file.
int64_t input_size(void)
{
    struct stat about;
    return fstat(STDIN_FILENO, &about) == 0 ? about.st_size : 0;
}
