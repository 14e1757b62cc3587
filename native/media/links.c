// An Ogg file may contain several streams one after another (chained Ogg). Programs that record radio write such files.
// Each stream is called a link. FFmpeg continues with the next link only if it has the codec, the sample rate and the
// channels of the previous link. Otherwise `find_link` finds the next link, and the file is opened again at this link.

#include "media.h"
#include <string.h>

enum { BEGINS_STREAM = 0x02, HEADER_BYTES = 27, BLOCK_BYTES = 64 * 1024 };

// An Ogg file consists of pages. Returns the byte position of the first page that begins a stream, between the byte
// positions `from` and `to`. Returns -1 if there is none.
int64_t find_link(int64_t from, int64_t to)
{
    static uint8_t block[BLOCK_BYTES];
    for (int64_t at = from; at < to; at += BLOCK_BYTES - HEADER_BYTES) {
        int length = input_read_at(at, block, BLOCK_BYTES);
        if (length < HEADER_BYTES)
            return -1;
        for (int page = 0; page + HEADER_BYTES <= length && at + page < to; page++)
            if (memcmp(block + page, "OggS", 4) == 0 && block[page + 5] & BEGINS_STREAM)
                return at + page;
    }
    return -1;
}
