// Finds MP4 files whose edit lists only shift or trim a track. These files do not need the full edit
// list. To apply a full edit list, FFmpeg builds the index of every track a second time, which takes 60 MB for ten
// hours of audio.

#include "media.h"
#include <string.h>

// The maximum padding of the last packet, in seconds. An edit that removes more than this at the end of its media
// removes sound.
static const double padding_seconds_max = 0.1;

typedef struct Box {
    char type[4];
    int64_t from, to;
} Box;

// The state of a walk through the boxes of the file. `boxes_left` is the number of boxes that the walk may still
// read. The number is limited, because a hostile file may contain any number of boxes.
typedef struct Walk {
    int boxes_left;
} Walk;

// The boxes of one track that describe its edits.
typedef struct Track {
    bool has_list, has_header;
    Box list, header;
} Track;

// The timescale (ticks per second) and the duration in ticks.
typedef struct Clock {
    double timescale, duration;
} Clock;

typedef struct Edit {
    double duration, start;
} Edit;

static uint64_t number(const uint8_t *bytes, int length)
{
    uint64_t value = 0;
    for (int i = 0; i < length; i++)
        value = value << 8 | bytes[i];
    return value;
}

// Reads the box at `*at`, and moves `*at` to the end of this box. Returns false at `to`, or if there is no valid box.
static bool next_box(Walk *walk, int64_t *at, int64_t to, Box *box)
{
    uint8_t head[16];
    if (*at > to - 8 || walk->boxes_left <= 0)
        return false;
    int length = input_read_at(*at, head, sizeof head);
    if (length < 8)
        return false;
    const uint64_t narrow = number(head, 4);
    const bool is_wide = narrow == 1 && length == 16;
    const uint64_t size = is_wide ? number(head + 8, 8) : narrow;
    // Size 0 means that the box reaches to the end of the file. The box with the media data may have size 0. No box
    // follows, so the walk ends. Other sizes that are smaller than the header of a box are invalid.
    if (size < (is_wide ? 16 : 8))
        return false;
    const int64_t end = size < (uint64_t)(INT64_MAX - *at) ? *at + (int64_t)size : INT64_MAX;
    memcpy(box->type, head + 4, 4);
    box->from = *at + (is_wide ? 16 : 8);
    box->to = end < to ? end : to;
    *at = end;
    walk->boxes_left -= 1;
    return true;
}

static bool has_type(const Box *box, const char *type)
{
    return memcmp(box->type, type, 4) == 0;
}

// Finds the first box of a type. Returns false if there is none.
static bool find_box(Walk *walk, int64_t from, int64_t to, const char *type, Box *box)
{
    for (int64_t at = from; next_box(walk, &at, to, box);)
        if (has_type(box, type))
            return true;
    return false;
}

// Finds the edit list and the header of a track, at any depth.
static void read_track(Walk *walk, Box parent, Track *track)
{
    Box box;
    for (int64_t at = parent.from; next_box(walk, &at, parent.to, &box);) {
        if (has_type(&box, "elst") && !track->has_list) {
            track->has_list = true;
            track->list = box;
        }
        if (has_type(&box, "mdhd") && !track->has_header) {
            track->has_header = true;
            track->header = box;
        }
        if (has_type(&box, "trak") || has_type(&box, "edts") || has_type(&box, "mdia"))
            read_track(walk, box, track);
    }
}

// Reads the box `mvhd` or `mdhd`. The fields that are read here have the same places in both boxes.
static Clock read_clock(Box header)
{
    uint8_t bytes[32];
    if (input_read_at(header.from, bytes, sizeof bytes) < (int)sizeof bytes)
        return (Clock){0, 0};
    if (bytes[0] == 1)
        return (Clock){(double)number(bytes + 20, 4), (double)number(bytes + 24, 8)};
    return (Clock){(double)number(bytes + 12, 4), (double)number(bytes + 16, 4)};
}

// Reads the edits of a list with one or two edits, and returns their number. Returns 0 for any other list.
static int read_edits(Box list, Edit edits[2])
{
    // The version, the number of edits, and two edits with 64-bit numbers.
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
        edits[i].duration = (double)number(edit, is_wide ? 8 : 4);
        edits[i].start = is_wide ? (double)(int64_t)number(edit + 8, 8) : (double)(int32_t)number(edit + 4, 4);
    }
    return (int)count;
}

// Returns true if the edit list of the track only shifts or trims it, or if the track has no edit list.
static bool is_plain(const Track *track, double movie_timescale)
{
    if (!track->has_list)
        return true;
    if (!track->has_header)
        return false;
    Edit edits[2];
    const int count = read_edits(track->list, edits);
    // A track that begins late starts with an empty edit.
    const int empty = count > 0 && edits[0].start == -1 ? 1 : 0;
    if (count - empty != 1)
        return false;
    const Edit edit = edits[empty];
    const Clock media = read_clock(track->header);
    const double end = edit.start / media.timescale + edit.duration / movie_timescale;
    return edit.duration == 0 || end >= media.duration / media.timescale - padding_seconds_max;
}

// Returns true if the index has at least `index_bytes_min` bytes, and every edit list only shifts or trims its track.
bool edits_shift_only(int64_t index_bytes_min)
{
    Walk walk = {10000};
    Box movie, header, box;
    if (!find_box(&walk, 0, INT64_MAX, "moov", &movie) || movie.to - movie.from < index_bytes_min)
        return false;
    if (!find_box(&walk, movie.from, movie.to, "mvhd", &header))
        return false;
    const double timescale = read_clock(header).timescale;
    for (int64_t at = movie.from; next_box(&walk, &at, movie.to, &box);) {
        Track track = {0};
        if (!has_type(&box, "trak"))
            continue;
        read_track(&walk, box, &track);
        if (!is_plain(&track, timescale))
            return false;
    }
    return walk.boxes_left > 0;
}
