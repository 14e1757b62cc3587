// Reads the boxes of an MP4 file that describe its tracks. A box is a part of the file: it has a size, a type of four
// letters, and a content, which may be more boxes. The box `moov` describes all tracks. Each box `trak` in it describes
// one track.

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

// Returns `length` bytes of the file from the byte position `at`. `length` is at most 4096. The bytes stay valid until
// the next call. Returns null if the file ends before the last of these bytes.
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

// Reads the header of the box at the byte position `*at`, and moves `*at` to the end of this box. Returns false if the
// header is invalid, or if no box begins before the byte position `to`.
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
    // Size 0 means that this box reaches to the end of the file, so no box follows it, and the walk ends. Any other
    // size that is smaller than the header itself is invalid.
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

// Finds the first box with the type `type` between the byte positions `from` and `to`. Returns false if there is none.
bool find_box(Walk *walk, int64_t from, int64_t to, const char *type, Box *box)
{
    for (int64_t at = from; next_box(walk, &at, to, box);)
        if (has_type(box, type))
            return true;
    return false;
}

// Collects the boxes that describe a track. Some of them are inside other boxes of the track.
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

// Finds the next box `trak`, which describes a track, from the byte position `*at` on. Returns false if there is none.
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

// Finds the box `moov`, which describes all tracks, and reads the timescale and the duration from its header `mvhd`.
// Returns false if one of the two boxes is missing, or if `moov` has less than `bytes_min` bytes.
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

// Returns true if this is an MP4 file whose box `moov` is missing or cut off. Most programs write `moov` last. So
// `moov` is missing if the recording was interrupted, or if only the beginning of the file was copied.
bool is_mp4_without_index(void)
{
    const int64_t end = input_size();
    Walk walk = {.boxes_left = BOXES_MAX};
    Box box;
    bool has_data = false;
    int64_t at = 0;
    while (next_box(&walk, &at, end, &box)) {
        // A picture (HEIC or AVIF) has the box `meta` and needs no `moov`. So a missing `moov` does not mean that the
        // file is cut off.
        if (has_type(&box, "meta"))
            return false;
        if (has_type(&box, "moov"))
            return walk.is_cut;
        has_data = has_data || has_type(&box, "mdat") || has_type(&box, "moof");
    }
    // The box `mdat` contains the bytes of the packets. Some programs write the size of this box only at the end of the
    // recording. In an interrupted recording, the size is still 0. `next_box` then returns false at this box, so the
    // loop has not counted it as data.
    const uint8_t *type = peek(at + 4, 4);
    return has_data || (type && memcmp(type, "mdat", 4) == 0);
}

// Reads the timescale (ticks per second) and the duration from the box `mvhd`, the header of the movie, or `mdhd`, the
// header of a track. Both boxes have these two fields at the same places.
Clock read_clock(Box header)
{
    uint8_t bytes[32];
    if (input_read_at(header.from, bytes, sizeof bytes) < (int)sizeof bytes)
        return (Clock){0, 0};
    if (bytes[0] == 1)
        return (Clock){(int64_t)number(bytes + 20, 4), (int64_t)number(bytes + 24, 8)};
    return (Clock){(int64_t)number(bytes + 12, 4), (int64_t)number(bytes + 16, 4)};
}

// Reads an edit list with one or two edits, and returns their number. An edit tells which part of the track is played.
// Returns 0 for a longer or a damaged list.
int read_edits(Box list, Edit edits[2])
{
    // The maximum size of a list with two edits: 8 bytes with the version and the number of edits, and 20 bytes for
    // each edit.
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
