// Reads the boxes of an MP4 file that describe its tracks.

#include "boxes.h"
#include "media.h"
#include <string.h>

uint64_t number(const uint8_t *bytes, int length)
{
    uint64_t value = 0;
    for (int i = 0; i < length; i++)
        value = value << 8 | bytes[i];
    return value;
}

// Returns `length` bytes of the file at the offset `at`, at most 4096. The bytes are valid until the next call. Returns
// null if the file ends earlier.
const uint8_t *peek(int64_t at, int length)
{
    static uint8_t block[4096];
    static int64_t block_from;
    static int block_length;
    if (at < block_from || at + length > block_from + block_length) {
        block_from = at;
        block_length = input_read_at(at, block, sizeof block);
    }
    return length <= block_length ? block + (at - block_from) : NULL;
}

// Reads the box at `*at`, and moves `*at` to the end of this box. Returns false at `to`, or if there is no valid box.
bool next_box(Walk *walk, int64_t *at, int64_t to, Box *box)
{
    if (*at > to - 8 || walk->boxes_left <= 0)
        return false;
    const uint8_t *wide_head = peek(*at, 16);
    const uint8_t *head = wide_head ? wide_head : peek(*at, 8);
    if (!head)
        return false;
    const uint64_t narrow = number(head, 4);
    const bool is_wide = narrow == 1 && wide_head;
    const uint64_t size = is_wide ? number(head + 8, 8) : narrow;
    // Size 0 means that the box reaches to the end of the file. No box follows it, so the walk ends here. Any other
    // size that is smaller than the header of a box is invalid.
    if (size < (is_wide ? 16 : 8))
        return false;
    const int64_t end = size < (uint64_t)(INT64_MAX - *at) ? *at + (int64_t)size : INT64_MAX;
    memcpy(box->type, head + 4, 4);
    box->from = *at + (is_wide ? 16 : 8);
    box->to = end < to ? end : to;
    walk->is_cut = walk->is_cut || end > to;
    *at = end;
    walk->boxes_left -= 1;
    return true;
}

bool has_type(const Box *box, const char *type)
{
    return memcmp(box->type, type, 4) == 0;
}

// Finds the first box of a type. Returns false if there is none.
bool find_box(Walk *walk, int64_t from, int64_t to, const char *type, Box *box)
{
    for (int64_t at = from; next_box(walk, &at, to, box);)
        if (has_type(box, type))
            return true;
    return false;
}

// Finds the boxes of a track, at any depth.
static void read_track(Walk *walk, Box parent, Track *track)
{
    static const char kinds[KINDS][5] = {"tkhd", "hdlr", "mdhd", "elst", "stsd", "stts",
                                         "ctts", "stsc", "stsz", "stco", "co64"};
    static const char parents[][5] = {"trak", "edts", "mdia", "minf", "stbl"};
    Box box;
    for (int64_t at = parent.from; next_box(walk, &at, parent.to, &box);) {
        for (int kind = 0; kind < KINDS; kind++)
            if (has_type(&box, kinds[kind]) && track->count[kind]++ == 0)
                track->boxes[kind] = box;
        for (size_t i = 0; i < sizeof parents / sizeof *parents; i++)
            if (has_type(&box, parents[i]))
                read_track(walk, box, track);
    }
}

// Finds the next track of the movie after `*at`. Returns false if there is none.
bool next_track(Walk *walk, int64_t *at, Box movie, Track *track)
{
    Box box;
    *track = (Track){0};
    while (next_box(walk, at, movie.to, &box))
        if (has_type(&box, "trak")) {
            read_track(walk, box, track);
            return true;
        }
    return false;
}

// Finds the box `moov` with the description of all tracks. Returns false if the box is missing or has less than
// `bytes_min` bytes, or if its header `mvhd` is missing.
bool find_movie(Walk *walk, int64_t bytes_min, Box *movie, Clock *clock)
{
    Box header;
    if (!find_box(walk, 0, INT64_MAX, "moov", movie) || movie->to - movie->from < bytes_min)
        return false;
    if (!find_box(walk, movie->from, movie->to, "mvhd", &header))
        return false;
    *clock = read_clock(header);
    return true;
}

// Reads the box `mvhd` or `mdhd`. The fields that are read here have the same places in both boxes.
Clock read_clock(Box header)
{
    uint8_t bytes[32];
    if (input_read_at(header.from, bytes, sizeof bytes) < (int)sizeof bytes)
        return (Clock){0, 0};
    if (bytes[0] == 1)
        return (Clock){(int64_t)number(bytes + 20, 4), (int64_t)number(bytes + 24, 8)};
    return (Clock){(int64_t)number(bytes + 12, 4), (int64_t)number(bytes + 16, 4)};
}

// Reads the edits of a list with one or two edits, and returns their number. Returns 0 for any other list.
int read_edits(Box list, Edit edits[2])
{
    // The size of a list with two edits: the version, the number of edits, and two edits with 64-bit numbers.
    uint8_t bytes[8 + 2 * 20];
    const int64_t room = list.to - list.from;
    const int length = input_read_at(list.from, bytes, room < (int64_t)sizeof bytes ? (int)room : (int)sizeof bytes);
    if (length < 8)
        return 0;
    const bool is_wide = bytes[0] == 1;
    const int size = is_wide ? 20 : 12;
    const uint64_t count = number(bytes + 4, 4);
    if (count > 2 || 8 + (int)count * size > length)
        return 0;
    for (int i = 0; i < (int)count; i++) {
        const uint8_t *edit = bytes + 8 + i * size;
        edits[i].duration = (int64_t)number(edit, is_wide ? 8 : 4);
        edits[i].start = is_wide ? (int64_t)number(edit + 8, 8) : (int32_t)number(edit + 4, 4);
    }
    return (int)count;
}
