#include "media.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

// Reads up to `length` bytes of the file on stdin, from the byte position `at`. Returns the number of bytes, which is
// smaller than `length` only at the end of the file. The read position of stdin does not change. Ends the process if
// the file cannot be read.
int input_read_at(int64_t at, uint8_t *bytes, int length)
{
    for (int filled = 0;;) {
        ssize_t count = pread(STDIN_FILENO, bytes + filled, (size_t)(length - filled), at + filled);
        if (count < 0 && errno == EINTR)
            continue;
        // The kernel answers EINVAL to an impossible byte position. A damaged file can contain such a position, so it
        // counts as the end of the file. Any other error comes from the disk, and ends the process.
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
