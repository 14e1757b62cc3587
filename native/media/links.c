// Chained Ogg: one media file contains several streams, one after another. Programs that record radio write these
// files. Each stream is a link of the chain. FFmpeg continues with the next link only if this link has the codec, the
// sample rate and the channels of the previous link. Otherwise `find_link` finds the next link, which is opened as a
// separate input.

#include "media.h"
#include <string.h>

enum { BEGINS_STREAM = 0x02, HEADER_BYTES = 27, BLOCK_BYTES = 64 * 1024 };

// Returns the offset of the first Ogg page from `from` up to `to` that begins a stream, or -1 if there is none.
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
