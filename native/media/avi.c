// Hides the index of a long AVI file from FFmpeg. FFmpeg would read the index into memory, 24 bytes for each packet. The
// index is needed only for seeking, and for a file whose packets are not in order.

#include "boxes.h"
#include "media.h"
#include <string.h>

enum { CHUNK_HEAD_BYTES = 8, LIST_HEAD_BYTES = 12, ENTRY_BYTES = 16 };
enum { CHUNKS_MAX = 1000, STREAMS_MAX = 16 };
// An index with at most this many entries is not hidden: FFmpeg needs only up to 2 MB for it.
enum { SHORT_ENTRIES_MAX = 65536 };

// A chunk of a RIFF file. `at` is its beginning, `from` and `to` are the bounds of its content.
typedef struct Chunk {
    int64_t at, from, to;
    char type[4];
} Chunk;

static int64_t little(const uint8_t *bytes)
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (int64_t)bytes[3] << 24;
}

// Reads the chunk at `*at`, and moves `*at` to the next one. Returns false at `to`.
static bool next_chunk(int64_t *at, int64_t to, Chunk *chunk)
{
    const uint8_t *head = *at <= to - CHUNK_HEAD_BYTES ? peek(*at, CHUNK_HEAD_BYTES) : NULL;
    if (!head)
        return false;
    const int64_t size = little(head + 4);
    memcpy(chunk->type, head, sizeof chunk->type);
    chunk->at = *at;
    chunk->from = *at + CHUNK_HEAD_BYTES;
    chunk->to = chunk->from + size;
    *at = chunk->to + size % 2;
    return true;
}

static bool is_chunk(const Chunk *chunk, const char *type)
{
    return memcmp(chunk->type, type, sizeof chunk->type) == 0;
}

// Makes FFmpeg skip a chunk.
static void hide(const Chunk *chunk)
{
    input_replace(chunk->at, (uint32_t)number((const uint8_t *)"JUNK", 4));
}

// A file above 1 GB has an index of each stream in the list of its headers. Hides these indexes.
static void hide_stream_indexes(const Chunk *headers)
{
    Chunk list, chunk;
    int64_t at = headers->from + 4;
    for (int streams = 0; streams < STREAMS_MAX && next_chunk(&at, headers->to, &list); streams++) {
        int64_t inner = list.from + 4;
        for (int i = 0; is_chunk(&list, "LIST") && i < CHUNKS_MAX && next_chunk(&inner, list.to, &chunk); i++)
            if (is_chunk(&chunk, "indx"))
                hide(&chunk);
    }
}

// Returns true if the index is long, and the packets have the same order in the index and in the file.
static bool is_long_and_sorted(const Chunk *index)
{
    int64_t last = -1;
    if ((index->to - index->from) / ENTRY_BYTES <= SHORT_ENTRIES_MAX)
        return false;
    for (int64_t at = index->from; at <= index->to - ENTRY_BYTES; at += ENTRY_BYTES) {
        const uint8_t *entry = peek(at, ENTRY_BYTES);
        if (!entry || little(entry + 8) <= last)
            return false;
        last = little(entry + 8);
    }
    return true;
}

// Hides a long index that FFmpeg does not need, and returns true. Returns false for any other file.
bool avi_hide_index(void)
{
    const uint8_t *head = peek(0, LIST_HEAD_BYTES);
    Chunk headers = {0}, chunk;
    if (!head || memcmp(head, "RIFF", 4) != 0 || memcmp(head + 8, "AVI ", 4) != 0)
        return false;
    int64_t at = LIST_HEAD_BYTES;
    for (int i = 0; i < CHUNKS_MAX && next_chunk(&at, INT64_MAX, &chunk); i++) {
        if (is_chunk(&chunk, "LIST") && headers.to == 0)
            headers = chunk;
        if (!is_chunk(&chunk, "idx1"))
            continue;
        if (!is_long_and_sorted(&chunk))
            return false;
        hide(&chunk);
        hide_stream_indexes(&headers);
        return true;
    }
    return false;
}
