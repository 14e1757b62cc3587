// Shows FFmpeg only the beginning of each track of a long MP4 file. FFmpeg keeps an index of all packets (pieces of
// coded sound) in memory, 40 bytes for each packet. So FFmpeg opens the file as if each track ended after a few
// thousand packets. These are enough to find the codec and the start of the track. Later, packets.c reads all packets.
// packets.c cannot read a file with an unusual layout. FFmpeg then sees the whole file, and reads all packets.
//
// The tables of a track list the size, the time and the position of its packets. A chunk is a group of packets that are
// stored together. A fragment is a part of the file with a list of more packets. An edit list tells which part of a
// track is played.

#include "boxes.h"
#include "media.h"
#include <libavutil/mathematics.h>

// FFmpeg opens a long file as if each track ended after its first packets (see `show_track`). FFmpeg sees at least this
// many packets of each track, which is more than it reads to find the codec. It can see some more: the tables, which
// list the packets, cannot end after every packet (see `end_tables`).
enum { PACKETS_SHOWN = 8192 };
// The maximum number of packets of an audio track. This code checks each packet in the tables of the track. If there
// are more packets, FFmpeg reads the file instead, so that the time of the check is limited. Ten hours of Opus with the
// shortest packets (2.5 ms) have this many.
enum { AUDIO_PACKETS_MAX = 14400000 };
// Uncompressed sound is checked in groups of this many samples. Some codecs store several samples together, as a frame.
// For each of these codecs, 960 is a multiple of the samples in a frame.
enum { SAMPLES_CHECKED = 960 };
// A file is long if it has more packets, or a larger description (`moov`), than these maximums. FFmpeg reads a shorter
// file without the help of this code, because FFmpeg then needs at most 5 MB of memory for the index.
enum { SHORT_PACKETS_MAX = 65536, SHORT_MOVIE_BYTES_MAX = 1024 * 1024 };
static const int64_t ticks_max = INT64_MAX / 4;

static int audio_count;
static Audio audio_tracks[TRACKS_MAX];
static Cursor cursor;
static Fragments fragments;

// Returns the audio track with the number `id`, or null if there is none.
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

// Finds which part of a track is played, and at which time, from its edit list. The result is the same as in FFmpeg.
// Returns false if this code cannot read the edit list or the times. FFmpeg then reads the whole file itself.
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
    // An edit list also tells how long the track is played. FFmpeg ignores this length if all packets are in fragments.
    if (audio->tables.packets == 0)
        return true;
    audio->from = start;
    audio->end = start + heard;
    audio->duration = audio->duration < silence + heard ? audio->duration : silence + heard;
    return heard > 0;
}

// Makes a table end after `count` entries for FFmpeg. The number of entries is stored before the first entry. FFmpeg
// reads `count` instead of this number.
static void show_entries(Table table, int64_t count)
{
    if (table.count > count)
        input_replace(table.from - 4, (uint32_t)count);
}

// FFmpeg gets only the first `packets` packets of a track. Returns how many entries of the box `ctts` it needs for
// them. The box has a time offset for each packet. If an offset is negative, FFmpeg shifts the whole track by the
// largest negative offset, so it needs all entries.
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

// Changes the tables (the lists of the packets of a track) as FFmpeg sees them: they end after the last packet that
// `cursor` has read. A chunk is a group of packets that are stored together. A run is a series of chunks with the same
// number of packets. The tables store this number once for each run. The tables can end after a whole chunk. They can
// also end inside the first chunk of a run: FFmpeg then gets a smaller number for this run. They cannot end inside a
// later chunk, because the smaller number would also apply to the earlier chunks of the run. In this case, returns
// false, and the caller tries again after the next packet.
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

// Checks the tables of a track, which list its packets. If there are many packets, FFmpeg gets only the beginning of
// the tables, so that its index stays small. Returns false if this code cannot read the tables. FFmpeg must then read
// the file itself. Sets `packets` to the number of packets. The tables of an audio track are checked up to the last
// packet, and `length` is set to the sum of the lengths of all packets, in ticks. The tables of another track are
// checked at most up to the last packet that FFmpeg gets, and `length` has no meaning.
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

// Returns true if each packet in the tables lasts one tick, the unit of the track's clock. Such a packet is a single
// sample of uncompressed sound.
static bool is_uncompressed(const Tables *tables)
{
    uint8_t bytes[8];
    return tables->times.count == 1 && tables->packet_bytes > 0 &&
           input_read_at(tables->times.from, bytes, sizeof bytes) == (int)sizeof bytes && number(bytes + 4, 4) == 1;
}

// Returns true if the track has only one description of its codec, and if it is not encrypted.
static bool is_readable(Box descriptions)
{
    const uint8_t *bytes = peek(descriptions.from + 12, 3);
    return bytes && number(bytes, 3) != number((const uint8_t *)"enc", 3) && has_one_description(descriptions);
}

// Finds the last packet that is played, among the packets in the tables of the track. Returns its start time in ticks.
// The edit list of the track tells at which time the playing ends. Returns -1 if the tables have no packets.
static int64_t last_start(const Audio *audio)
{
    int64_t start = -1;
    cursor_open(&cursor, &audio->tables);
    while ((start < 0 || start + cursor.packet.length < audio->end) && cursor_next(&cursor))
        start = cursor.packet.start;
    return start;
}

// Checks the tables of the audio track `audio`, and reads its edit list. The fragments of the track follow the packets
// in its tables, so `before` gets the times of the last packet in the tables. Sets `packets` to the number of packets
// in the tables. Returns false if FFmpeg must read the file itself.
static bool add_audio(const Track *track, Clock movie, Audio *audio, FragmentTrack *before, int64_t *packets)
{
    Tables *tables = &audio->tables;
    if (tables->offsets.count > 0)
        return false;
    // `show_track` checks the tables. To save time, it takes up to SAMPLES_CHECKED samples of uncompressed sound as one
    // packet. Each sample counts as one byte here. The size of the packet may then be wrong, but the check uses only
    // the number and the times of the samples. FFmpeg finds the true sizes when it opens the file, and `set_group` in
    // packets.c then stores them.
    if (is_uncompressed(tables) && !audio->is_fragmented)
        tables->group = (Group){SAMPLES_CHECKED, 1, 1};
    if (!show_track(tables, true, packets, &before->end) || !set_times(audio, track, movie, before->end))
        return false;
    before->last = last_start(audio);
    return true;
}

// Checks a track of any kind. If it is an audio track, adds it to `audio_tracks`. The tables of the track list its
// packets. In some files, fragments (parts of the file with lists of packets) list more packets, which follow those in
// the tables. Sets `packets` to the number of packets in the tables. Sets `before` to the state of the track before its
// first fragment: the number of the track and, for audio, the times of the last packet in the tables. Returns false if
// this code cannot read the track. FFmpeg must then read the whole file itself.
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

// Returns the position before the first packet of the fragments. The caller copies this position, and reads the packets
// from there. A fragment is a part of the file with a list of packets.
const Fragments *fragments_at_start(void)
{
    return &fragments;
}

// Checks all fragments (parts of the file with lists of packets), so that packets.c can read the packets in them later.
// FFmpeg would keep an index of all these packets in memory. So if there are many, FFmpeg sees only the first
// fragments, as if the file ended after them. Returns false if packets.c cannot read the file with the same result as
// FFmpeg. FFmpeg must then read the file itself. Before the call, `packets` is the number of packets that the tables of
// the tracks list outside the fragments. This function adds the number of packets in the fragments.
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
    // The last packet in the tables of a track may last beyond the end of the track. FFmpeg then cuts off the end of
    // the packet, unless the fragment that FFmpeg read last names a track (in the box `tfhd`). packets.c never cuts the
    // packet. So FFmpeg must read the file itself if there are no fragments, or if the last fragment names no track.
    // The same applies to a file with a list of its fragments (`sidx`), because FFmpeg may reach the packet before it
    // has read a fragment.
    return position.is_complete && (!has_tables || (position.track && !position.has_index));
}

// Finds the tracks of a long MP4 file, and checks that packets.c can read their packets. FFmpeg would keep an index of
// all packets in memory. So FFmpeg sees only the first packets of each track, as if the track ended after them (see
// PACKETS_SHOWN). Returns false for a short file, and for a file that only FFmpeg can read.
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
        // In a file with fragments, a track may also have packets in its tables. FFmpeg applies only a part of the edit
        // list of a track without packets in tables, and also of all tracks after it. `set_times` does so only for the
        // tracks without packets in tables. If only some tracks have packets in tables, the two results could differ,
        // so FFmpeg must read such a file itself.
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

// Returns true for a long MP4 file if packets.c can read its packets. FFmpeg then sees only the beginning of each
// track, so that it does not keep an index of all packets in memory, and packets.c reads all packets. For all other
// files, returns false, and FFmpeg sees the whole file.
bool packets_find(void)
{
    audio_count = 0;
    if (find_tracks())
        return true;
    input_restore();
    return false;
}
