// Reads the packets of a fragmented MP4 file, as recorders and streaming programs write it. A packet is a piece of
// coded sound. A fragment is a box `moof`, which lists packets, and a box `mdat` with their bytes. The boxes inside
// `moof`:
// - `traf`, called a part here, lists the packets of one track. It contains the next three boxes.
// - `tfhd` names the track, and gives default values for the packets of the part.
// - `tfdt` gives the time at which the first packet of the part starts.
// - `trun`, called a run, is a list of packets.
//
// The lists stay in the file, so a file of any length takes the same memory. FFmpeg would keep 40 bytes of memory for
// each packet. Only files with the usual layout are read here. For example, the bytes of the packets must lie between
// their box `moof` and the next one. FFmpeg reads all other files, and every encrypted file.

#include "boxes.h"
#include "media.h"

// The flags of the box `tfhd`, which gives default values for the packets of one track in a fragment. HAS_… means that
// the box contains this value. BASE_IS_FRAGMENT means that the byte positions of the packets are counted from the box
// `moof`.
enum { HAS_BASE = 0x1, HAS_DESCRIPTION = 0x2, HAS_LENGTH = 0x8, HAS_SIZE = 0x10, BASE_IS_FRAGMENT = 0x20000 };
// The flags of the box `trun`, which is a list of packets. HAS_… means that the box contains this value once. EACH_…
// means that the list contains this value for each packet.
enum { HAS_OFFSET = 0x1, HAS_FIRST_FLAGS = 0x4, EACH_LENGTH = 0x100, EACH_SIZE = 0x200, EACH_FLAGS = 0x400 };
enum { EACH_SHIFT = 0x800 };
// The maximum numbers of boxes in a file, and of packets in a track. FFmpeg reads the file if it has more. A file of
// ten hours with a fragment for each second has only 300,000 boxes.
enum { FRAGMENT_BOXES_MAX = 10000000, FRAGMENT_PACKETS_MAX = 30000000 };
static const int64_t offset_max = INT64_MAX / 4;

// Reads a number of `length` bytes at the byte position `*at`, and moves `*at` behind it. Returns 0 if the file ends
// earlier.
static int64_t take(int64_t *at, int length)
{
    const uint8_t *bytes = peek(*at, length);
    *at += length;
    return bytes ? (int64_t)number(bytes, length) : 0;
}

static FragmentTrack *find_track(Fragments *fragments, int64_t id)
{
    for (int i = 0; i < fragments->track_count; i++)
        if (fragments->tracks[i].id == id)
            return &fragments->tracks[i];
    return NULL;
}

// Reads the box `mvex`: for each track, the default length and size of a packet, and the default number of the codec's
// description. They apply to the packets of a fragment that gives no such values itself. Returns false if a track has
// no default values. Only FFmpeg can then read the file.
static bool read_defaults(Fragments *fragments, Box movie)
{
    Box extension, box;
    if (!find_box(&fragments->walk, movie.from, movie.to, "mvex", &extension))
        return false;
    for (int64_t at = extension.from; next_box(&fragments->walk, &at, extension.to, &box);) {
        int64_t field = box.from + 4;
        FragmentTrack *track = has_type(&box, "trex") ? find_track(fragments, take(&field, 4)) : NULL;
        if (!track || track->description != 0)
            continue;
        track->description = take(&field, 4);
        track->length = take(&field, 4);
        track->size = take(&field, 4);
    }
    for (int i = 0; i < fragments->track_count; i++)
        if (fragments->tracks[i].description == 0)
            return false;
    return true;
}

// Prepares the reading of all fragments. `tracks` has the state of each track before the first fragment. Returns false
// if only FFmpeg can read the file.
bool fragments_open(Fragments *fragments, const FragmentTrack *tracks, int count, Box movie)
{
    *fragments = (Fragments){.walk.boxes_left = FRAGMENT_BOXES_MAX, .file_bytes = input_size(), .track_count = count};
    for (int i = 0; i < count; i++) {
        if (find_track(fragments, tracks[i].id))
            return false;
        fragments->tracks[i] = tracks[i];
        fragments->tracks[i].fragment = -1;
    }
    return read_defaults(fragments, movie);
}

// Checks the box `sidx`, which lists the fragments for seeking. Its content is not needed here. But FFmpeg refuses a
// file with an invalid `sidx`, so this function returns false for it, and the file is left to FFmpeg.
static bool check_index(Box box)
{
    int64_t at = box.from;
    const bool is_wide = take(&at, 4) >> 24 == 1;
    const int width = is_wide ? 8 : 4;
    take(&at, 4);
    const int64_t timescale = take(&at, 4);
    const int64_t start = take(&at, width);
    const int64_t offset = take(&at, width);
    take(&at, 2);
    const int64_t count = take(&at, 2);
    if (timescale <= 0 || timescale > INT32_MAX || start < 0 || start > offset_max || offset < 0 ||
        offset > offset_max || count == 0 || at + count * 12 > box.to)
        return false;
    for (int64_t i = 0; i < count; i++, at += 8)
        if (take(&at, 4) >> 31 != 0)
            return false;
    return true;
}

static bool begin_fragment(Fragments *fragments, int64_t from, Box box)
{
    const bool is_after_data = fragments->data_to <= from;
    fragments->fragment_from = fragments->data_at = fragments->data_to = from;
    fragments->fragment_at = box.from;
    fragments->fragment_to = box.to;
    fragments->track = NULL;
    return fragments->has_movie && is_after_data;
}

// Reads the next box that is not inside another box. Returns false at the end of the file, or at a box that only FFmpeg
// can read.
static bool read_file_box(Fragments *fragments)
{
    const int64_t from = fragments->at;
    Box box;
    if (from > fragments->file_bytes - 8) {
        fragments->is_complete = fragments->has_movie;
        return false;
    }
    if (!next_box(&fragments->walk, &fragments->at, fragments->file_bytes, &box))
        return false;
    // The box `mdat` (the bytes of packets) at the end of the file may be cut off, as in an interrupted recording. This
    // code must give the same sound as FFmpeg. Without the box `sidx` (a list of the fragments), both read the file up
    // to the cut. With `sidx`, FFmpeg treats the cut in another way, so FFmpeg must read the file itself.
    if (fragments->at > fragments->file_bytes && (!has_type(&box, "mdat") || fragments->has_index))
        return false;
    if (has_type(&box, "mdat")) {
        fragments->has_early_data = fragments->has_early_data || !fragments->has_movie;
        return true;
    }
    if (has_type(&box, "moof"))
        return begin_fragment(fragments, from, box);
    if (has_type(&box, "ftyp"))
        return !fragments->has_movie;
    if (has_type(&box, "moov")) {
        const bool is_first = !fragments->has_movie;
        fragments->has_movie = true;
        return is_first;
    }
    if (has_type(&box, "sidx")) {
        fragments->has_index = true;
        return fragments->has_movie && !fragments->has_early_data && check_index(box);
    }
    if (has_type(&box, "free") || has_type(&box, "skip") || has_type(&box, "wide"))
        return true;
    return fragments->has_movie && (has_type(&box, "styp") || has_type(&box, "mfra") || has_type(&box, "emsg") ||
                                    has_type(&box, "prft"));
}

static bool read_fragment_box(Fragments *fragments)
{
    Box box;
    if (!next_box(&fragments->walk, &fragments->fragment_at, fragments->fragment_to, &box) ||
        fragments->fragment_at > fragments->fragment_to)
        return false;
    if (has_type(&box, "traf")) {
        fragments->part_at = box.from;
        fragments->part_to = box.to;
        fragments->track = NULL;
        return true;
    }
    return has_type(&box, "mfhd") || has_type(&box, "free") || has_type(&box, "skip");
}

// Reads the box `tfhd`, which gives default values for the packets of one track in this fragment. Returns false if only
// FFmpeg can read it.
static bool begin_part(Fragments *fragments, Box box)
{
    int64_t at = box.from;
    const int64_t flags = take(&at, 4) & 0xffffff;
    FragmentTrack *track = find_track(fragments, take(&at, 4));
    if (!track || fragments->track || track->fragment == fragments->fragment_from)
        return false;
    // The byte positions of the packets are counted from `base`. With the flag HAS_BASE, the box `tfhd` contains
    // `base`. Otherwise, with the flag BASE_IS_FRAGMENT, `base` is the beginning of the fragment (the box `moof`).
    // Without both flags, `base` is where the bytes of the previous track in this fragment end. For the first track, it
    // is the beginning of the fragment.
    int64_t base = flags & BASE_IS_FRAGMENT ? fragments->fragment_from : fragments->data_at;
    if (flags & HAS_BASE)
        base = take(&at, 8);
    track->fragment = fragments->fragment_from;
    fragments->track = track;
    fragments->base = base;
    fragments->description = flags & HAS_DESCRIPTION ? take(&at, 4) : track->description;
    fragments->length = flags & HAS_LENGTH ? take(&at, 4) : track->length;
    fragments->size = flags & HAS_SIZE ? take(&at, 4) : track->size;
    fragments->time = -1;
    fragments->has_runs = false;
    return at <= box.to && base >= 0 && base <= offset_max && fragments->description == 1;
}

// Reads the box `tfdt`: the time at which the first packet of this track in the fragment starts. Returns false if the
// box occurs twice in this part, or follows a list of packets (`trun`). This code does not support such a file, so
// FFmpeg must read it.
static bool read_time(Fragments *fragments, Box box)
{
    int64_t at = box.from;
    const bool is_wide = take(&at, 4) >> 24 != 0;
    if (!fragments->track || fragments->time >= 0 || fragments->has_runs)
        return false;
    fragments->time = take(&at, is_wide ? 8 : 4);
    return at <= box.to && fragments->time >= 0 && fragments->time <= offset_max;
}

// Reads the header of the box `trun`, which is a list of packets. Returns false if only FFmpeg can read the list.
static bool begin_run(Fragments *fragments, Box box)
{
    FragmentTrack *track = fragments->track;
    int64_t at = box.from;
    const int64_t flags = take(&at, 4) & 0xffffff;
    const int64_t count = take(&at, 4);
    const int64_t offset = flags & HAS_OFFSET ? (int32_t)take(&at, 4) : 0;
    if (flags & HAS_FIRST_FLAGS)
        take(&at, 4);
    const int width = 4 * (!!(flags & EACH_LENGTH) + !!(flags & EACH_SIZE) + !!(flags & EACH_FLAGS) +
                           !!(flags & EACH_SHIFT));
    if (!track || at > box.to || count * width > box.to - at)
        return false;
    if (count == 0)
        return true;
    // Without the box `tfdt`, the first packet starts when the previous packet of this track ends. But if the file has
    // the box `sidx`, FFmpeg takes the time from `sidx`, which lists the fragments with their times. This code does not
    // read these times, so FFmpeg must read the file.
    if (fragments->time < 0 && fragments->has_index)
        return false;
    if (fragments->time < 0)
        fragments->time = track->end;
    fragments->has_runs = true;
    fragments->run_flags = flags;
    fragments->run_at = at;
    fragments->run_left = count;
    fragments->before = track->last;
    fragments->data_at = fragments->base + offset;
    return fragments->data_at >= fragments->fragment_from;
}

// Reads the next box of a part (`traf`), which lists the packets of one track in a fragment. Returns false at a box
// that only FFmpeg can read, such as a box about encryption.
static bool read_part_box(Fragments *fragments)
{
    Box box;
    if (!next_box(&fragments->walk, &fragments->part_at, fragments->part_to, &box) ||
        fragments->part_at > fragments->part_to)
        return false;
    if (has_type(&box, "tfhd"))
        return begin_part(fragments, box);
    if (has_type(&box, "tfdt"))
        return read_time(fragments, box);
    if (has_type(&box, "trun"))
        return begin_run(fragments, box);
    if (has_type(&box, "sgpd") || has_type(&box, "sbgp")) {
        int64_t at = box.from + 4;
        return take(&at, 4) == (int64_t)number((const uint8_t *)"roll", 4);
    }
    return has_type(&box, "sdtp") || has_type(&box, "free") || has_type(&box, "skip");
}

// Reads the next packet from the current list of packets (`trun`). Returns false at a packet that only FFmpeg can read.
static bool read_packet(Fragments *fragments)
{
    FragmentTrack *track = fragments->track;
    const int64_t flags = fragments->run_flags;
    int64_t *at = &fragments->run_at;
    const int64_t length = flags & EACH_LENGTH ? take(at, 4) : fragments->length;
    const int64_t size = flags & EACH_SIZE ? take(at, 4) : fragments->size;
    if (flags & EACH_FLAGS)
        take(at, 4);
    const int64_t shift = flags & EACH_SHIFT ? take(at, 4) : 0;
    if (size <= 0 || size > INT32_MAX || fragments->time > offset_max || track->packets >= FRAGMENT_PACKETS_MAX ||
        (track->is_audio && (length == 0 || length > INT32_MAX || shift != 0)))
        return false;
    fragments->packet = (Packet){fragments->data_at, fragments->time, length, (int)size};
    fragments->is_overlap = fragments->before >= fragments->time;
    fragments->run_left -= 1;
    fragments->time += length;
    fragments->data_at += size;
    if (fragments->data_at > fragments->data_to)
        fragments->data_to = fragments->data_at;
    track->packets += 1;
    track->last = fragments->packet.start;
    track->end = fragments->time;
    return true;
}

// Moves to the next packet of any track in the fragments. Returns false at the end of the file, or at a box or a packet
// that only FFmpeg can read.
bool fragments_next(Fragments *fragments)
{
    while (fragments->run_left == 0) {
        const bool is_read = fragments->part_at < fragments->part_to           ? read_part_box(fragments)
                             : fragments->fragment_at < fragments->fragment_to ? read_fragment_box(fragments)
                                                                               : read_file_box(fragments);
        if (!is_read)
            return false;
    }
    return read_packet(fragments);
}
