// Hides the index of a long AVI file from FFmpeg. An AVI file consists of chunks with a type of four letters and a
// size. The index is a chunk that lists the positions of all packets in the file. FFmpeg would keep 24 bytes of memory
// for each packet. It needs the index only for seeking, and for a file whose packets are not in order.

#include "boxes.h"
#include "media.h"
#include <string.h>

enum { CHUNK_HEAD_BYTES = 8, LIST_HEAD_BYTES = 12, ENTRY_BYTES = 16 };
enum { CHUNKS_MAX = 1000, STREAMS_MAX = 16 };
// The number of entries up to which an index is short. Only a longer index is hidden, because FFmpeg keeps the index in
// memory. A short index needs only up to 2 MB.
enum { SHORT_ENTRIES_MAX = 65536 };

// A chunk is a part of an AVI file. It begins at the byte position `at`. Its content begins at the byte position `from`
// and ends before the byte position `to`.
typedef struct Chunk {
    int64_t at, from, to;
    char type[4];
} Chunk;

static int64_t little(const uint8_t *bytes)
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (int64_t)bytes[3] << 24;
}

// Reads the header of the chunk at the byte position `*at`, and moves `*at` to the next chunk. Returns false if no
// chunk begins before the byte position `to`.
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

// Makes FFmpeg read the type `JUNK` for this chunk. The type means unused space, so FFmpeg skips the chunk.
static void hide(const Chunk *chunk)
{
    input_replace(chunk->at, (uint32_t)number((const uint8_t *)"JUNK", 4));
}

// An AVI file above 1 GB has an additional index for each stream: the chunk `indx` in the header of the stream. Hides
// these indexes from FFmpeg, so that it does not keep them in memory.
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

// Returns true if the index has many entries, and if they have the order in which the packets are stored. If the order
// differs, FFmpeg needs the index to read the packets in the right order.
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

// Hides the index of a long AVI file from FFmpeg, which would keep the index in memory. Returns true if the index was
// hidden. Returns false if FFmpeg needs the index, and for any other file.
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
