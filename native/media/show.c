// Shows FFmpeg only the beginning of each track of a long MP4 file. The index of FFmpeg takes 40 bytes of memory for
// each packet. So FFmpeg opens the file as if each track ended after a few thousand packets. These are enough to find
// the codec and the start of the track. Later, packets.c reads all packets. A file with an unusual layout is left to
// FFmpeg.

#include "boxes.h"
#include "media.h"
#include <libavutil/mathematics.h>

// FFmpeg gets the chunks that contain this many packets of each track: more than it reads to find the codec.
enum { PACKETS_SHOWN = 8192 };
// The maximum number of packets of a track that are checked: ten hours of Opus with the shortest packets (2.5 ms).
enum { AUDIO_PACKETS_MAX = 14400000 };
// The number of samples of uncompressed sound that are checked together. For each codec, this is a multiple of the
// number of samples in a frame.
enum { SAMPLES_CHECKED = 960 };
// A file is long if it has more packets, or a larger description, than these maximums. A shorter file is left to
// FFmpeg, which needs up to 5 MB for the index of the file.
enum { SHORT_PACKETS_MAX = 65536, SHORT_MOVIE_BYTES_MAX = 1024 * 1024 };
static const int64_t ticks_max = INT64_MAX / 4;

static int audio_count;
static Audio audio_tracks[TRACKS_MAX];
static Cursor cursor;
static Fragments fragments;

// Returns the audio track with this number. Returns null if there is none.
const Audio *audio_track(int64_t id)
{
    for (int i = 0; i < audio_count; i++)
        if (audio_tracks[i].id == id)
            return &audio_tracks[i];
    return NULL;
}

static bool has_handler(const Track *track, const char *type)
{
    uint8_t bytes[12];
    const bool is_read = input_read_at(track->boxes[HDLR].from, bytes, sizeof bytes) == (int)sizeof bytes;
    return track->count[HDLR] > 0 && is_read && number(bytes + 8, 4) == number((const uint8_t *)type, 4);
}

static int64_t track_id(Box header)
{
    uint8_t bytes[24];
    if (input_read_at(header.from, bytes, sizeof bytes) < (int)sizeof bytes)
        return -1;
    return (int64_t)number(bytes + (bytes[0] == 1 ? 20 : 12), 4);
}

static bool has_one_description(Box box)
{
    uint8_t bytes[8];
    return input_read_at(box.from, bytes, sizeof bytes) == (int)sizeof bytes && number(bytes + 4, 4) == 1;
}

static bool is_timescale(int64_t value)
{
    return value > 0 && value <= INT32_MAX;
}

// Sets the times of a track as FFmpeg sets them. Returns false if only FFmpeg can find the times.
static bool set_times(Audio *audio, const Track *track, Clock movie, int64_t length)
{
    const Clock media = read_clock(track->boxes[MDHD]);
    if (!is_timescale(media.timescale) || !is_timescale(movie.timescale) ||
        (media.duration <= 0 && !audio->is_fragmented))
        return false;
    audio->duration = media.duration < length ? media.duration : length;
    audio->from = 0;
    audio->end = INT64_MAX;
    audio->has_list = track->count[ELST] > 0;
    if (!audio->has_list)
        return true;
    Edit edits[2];
    const int last = read_edits(track->boxes[ELST], edits) - 1;
    if (last < 0)
        return false;
    const int64_t silence = last > 0 ? av_rescale(edits[0].duration, media.timescale, movie.timescale) : 0;
    const int64_t heard = av_rescale(edits[last].duration, media.timescale, movie.timescale);
    const int64_t start = edits[last].start;
    if (start < 0 || start > media.timescale || heard < 0 || heard > ticks_max || silence < 0 || silence > ticks_max)
        return false;
    audio->shift = silence - start;
    // FFmpeg ignores the length of the edit if all packets are in fragments.
    if (audio->tables.packets == 0)
        return true;
    audio->from = start;
    audio->end = start + heard;
    audio->duration = audio->duration < silence + heard ? audio->duration : silence + heard;
    return heard > 0;
}

// Makes a table end after `count` entries for FFmpeg: replaces the number of entries, which stands before the first
// entry.
static void show_entries(Table table, int64_t count)
{
    if (table.count > count)
        input_replace(table.from - 4, (uint32_t)count);
}

// Returns the number of entries of the box `ctts` that cover the first `packets` packets. All entries remain if one of
// them has a negative offset, because FFmpeg then shifts the whole track by the largest negative offset.
static int64_t count_offsets(Table table, int64_t packets)
{
    Reader *reader = &cursor.times;
    *reader = (Reader){.table = table};
    int64_t needed = 0;
    for (const uint8_t *entry; (entry = read_entry(reader));) {
        if ((int32_t)number(entry, 4) <= 0 || (int32_t)number(entry + 4, 4) < 0)
            return table.count;
        needed += packets > 0;
        packets -= (int64_t)number(entry, 4);
    }
    return needed;
}

// Makes the tables end for FFmpeg after the packet that the cursor has read last. This packet must end a chunk, or be
// in the first chunk of a run (a series of chunks with the same number of packets): the table of runs then gets a
// smaller number for this chunk. Returns false for any other packet.
static bool end_tables(const Tables *tables, int64_t packets)
{
    const int64_t runs = cursor.runs.next - (cursor.next_run < INT64_MAX);
    if (cursor.chunk_left > 0 && cursor.chunks.next != cursor.run)
        return false;
    if (cursor.chunk_left > 0)
        input_replace(tables->runs.from + (runs - 1) * 12 + 4, (uint32_t)(cursor.chunk_packets - cursor.chunk_left));
    show_entries(tables->sizes, packets);
    show_entries(tables->chunks, cursor.chunks.next);
    show_entries(tables->runs, runs);
    show_entries(tables->times, cursor.times.next);
    return true;
}

// Checks the tables of a track, and shows FFmpeg only their beginning. The tables of an audio track are checked to
// their end. Returns false if only FFmpeg can read the tables. `packets` becomes the number of packets. For an audio
// track, `length` becomes the sum of the lengths of the packets.
static bool show_track(const Tables *tables, bool is_audio, int64_t *packets, int64_t *length)
{
    int64_t shown = tables->packets <= PACKETS_SHOWN ? tables->packets : 0;
    *packets = *length = 0;
    if (tables->packets == 0)
        return tables->times.count == 0 && tables->runs.count == 0 && tables->chunks.count == 0;
    cursor_open(&cursor, tables);
    while ((is_audio || shown == 0) && *packets < AUDIO_PACKETS_MAX && cursor_next(&cursor)) {
        *packets += 1;
        *length += cursor.packet.length;
        const int64_t listed = tables->packets - cursor.packets_left;
        if (shown == 0 && *packets >= PACKETS_SHOWN && end_tables(tables, listed))
            shown = listed;
    }
    if (is_audio)
        return cursor_is_complete(&cursor);
    *packets = tables->packets;
    if (shown < tables->packets)
        show_entries(tables->offsets, count_offsets(tables->offsets, shown));
    return shown > 0;
}

// Returns true if the tables list packets of one tick. Such packets are single samples of uncompressed sound.
static bool is_uncompressed(const Tables *tables)
{
    uint8_t bytes[8];
    return tables->times.count == 1 && tables->packet_bytes > 0 &&
           input_read_at(tables->times.from, bytes, sizeof bytes) == (int)sizeof bytes && number(bytes + 4, 4) == 1;
}

// Returns true if the codec is described once and the packets are not encrypted.
static bool is_readable(Box descriptions)
{
    const uint8_t *bytes = peek(descriptions.from + 12, 3);
    return bytes && number(bytes, 3) != number((const uint8_t *)"enc", 3) && has_one_description(descriptions);
}

// Returns the start of the last packet in the tables that is decoded, or -1 if they are empty.
static int64_t last_start(const Audio *audio)
{
    int64_t start = -1;
    cursor_open(&cursor, &audio->tables);
    while ((start < 0 || start + cursor.packet.length < audio->end) && cursor_next(&cursor))
        start = cursor.packet.start;
    return start;
}

// Adds an audio track. `before` becomes its state before the first fragment, and `packets` the number of packets in its
// tables.
static bool add_audio(const Track *track, Clock movie, Audio *audio, FragmentTrack *before, int64_t *packets)
{
    Tables *tables = &audio->tables;
    if (tables->offsets.count > 0)
        return false;
    // The size of a frame is not known here: FFmpeg finds it later, when it opens the file (packets.c).
    if (is_uncompressed(tables) && !audio->is_fragmented)
        tables->group = (Group){SAMPLES_CHECKED, 1, 1};
    if (!show_track(tables, true, packets, &before->end) || !set_times(audio, track, movie, before->end))
        return false;
    before->last = last_start(audio);
    return true;
}

// Adds a track. `before` becomes its state before the first fragment, and `packets` the number of packets in its tables.
static bool add_track(const Track *track, Clock movie, bool is_fragmented, FragmentTrack *before, int64_t *packets)
{
    Tables tables;
    int64_t ignored;
    if (track->count[TKHD] != 1 || track->count[MDHD] != 1 || track->count[STSD] != 1 || !find_tables(track, &tables))
        return false;
    const bool is_audio = has_handler(track, "soun");
    if ((is_audio || is_fragmented) && !is_readable(track->boxes[STSD]))
        return false;
    *before = (FragmentTrack){.id = track_id(track->boxes[TKHD]), .is_audio = is_audio};
    if (!is_audio)
        return show_track(&tables, false, packets, &ignored);
    Audio *audio = &audio_tracks[audio_count++];
    *audio = (Audio){.id = before->id, .is_fragmented = is_fragmented, .tables = tables};
    return add_audio(track, movie, audio, before, packets);
}

// Returns the position before the first packet of a fragmented file.
const Fragments *fragments_at_start(void)
{
    return &fragments;
}

// Checks all fragments, and shows FFmpeg only the first ones. Returns false if only FFmpeg can read the fragments.
// Before the call, `packets` is the number of packets in the tables of all tracks. The call adds the number of packets
// in the fragments.
static bool show_fragments(int64_t *packets)
{
    const bool has_tables = *packets > 0;
    Fragments position = fragments;
    int64_t heard = 0, full = -1;
    bool is_shown = false;
    for (; fragments_next(&position); *packets += 1) {
        heard += position.track->is_audio;
        if (full < 0 && heard > (int64_t)PACKETS_SHOWN * audio_count)
            full = position.fragment_from;
        if (full >= 0 && !is_shown && position.fragment_from > full) {
            input_end_at(position.fragment_from);
            is_shown = true;
        }
    }
    // FFmpeg may trim the last packet of the tables if an index (`sidx`) follows, or if the last fragment has no
    // packets. Such a file is left to FFmpeg.
    return position.is_complete && (!has_tables || (position.track && !position.has_index));
}

// Finds the tracks of a long file, and shows FFmpeg their beginning. Returns false for any other file.
static bool find_tracks(void)
{
    Walk walk = {.boxes_left = BOXES_MAX};
    Box movie, box;
    Clock clock;
    Track track;
    int tracks = 0;
    int64_t packets = 0, listed = 0;
    FragmentTrack before[TRACKS_MAX];
    if (!find_movie(&walk, 0, &movie, &clock))
        return false;
    const bool is_fragmented = find_box(&walk, movie.from, movie.to, "mvex", &box);
    for (int64_t at = movie.from; next_track(&walk, &at, movie, &track); tracks++) {
        // If only some tracks of a fragmented file have packets in their tables, FFmpeg must read the file, because it
        // applies the edit lists of such a file in another way.
        const bool is_empty = packets == 0;
        if (tracks == TRACKS_MAX || !edits_are_plain(&track, clock) ||
            !add_track(&track, clock, is_fragmented, &before[tracks], &listed) ||
            (is_fragmented && tracks > 0 && is_empty != (listed == 0)))
            return false;
        packets += listed;
    }
    if (walk.boxes_left <= 0 || walk.is_cut || audio_count == 0)
        return false;
    if (is_fragmented && !(fragments_open(&fragments, before, tracks, movie) && show_fragments(&packets)))
        return false;
    return packets > SHORT_PACKETS_MAX || movie.to - movie.from > SHORT_MOVIE_BYTES_MAX;
}

// Returns true if the packets of this file can be read from its tables or fragments. FFmpeg then gets only the
// beginning of them.
bool packets_find(void)
{
    audio_count = 0;
    if (find_tracks())
        return true;
    input_restore();
    return false;
}
