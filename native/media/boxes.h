// The boxes of an MP4 file (boxes.c), and the packets of a track, which are listed in tables (tables.c) or in fragments
// (fragments.c). The standard calls a packet a sample, but here, a sample is always a sample of sound.

#ifndef STENO_BOXES_H
#define STENO_BOXES_H

#include <stdbool.h>
#include <stdint.h>

// `from` and `to` are the bounds of the content of the box.
typedef struct Box {
    char type[4];
    int64_t from, to;
} Box;

// The state of a walk through the boxes of the file. `boxes_left` is the number of boxes that the walk may still
// read. The number is limited, because a hostile file may contain any number of boxes.
typedef struct Walk {
    int boxes_left;
    // True if a box was longer than the box around it.
    bool is_cut;
} Walk;
enum { BOXES_MAX = 10000 };

// The kinds of boxes of a track that are used here. The names are those of the standard (ISO/IEC 14496-12).
enum { TKHD, HDLR, MDHD, ELST, STSD, STTS, CTTS, STSC, STSZ, STCO, CO64, KINDS };
// The boxes of one track. `count` is the number of boxes of a kind; `boxes` has the first one.
typedef struct Track {
    int count[KINDS];
    Box boxes[KINDS];
} Track;

// The timescale (ticks per second) and the duration in ticks.
typedef struct Clock {
    int64_t timescale, duration;
} Clock;

// An entry of an edit list. `duration` has the timescale of the movie, `start` that of the track. A `start` of -1 means
// silence.
typedef struct Edit {
    int64_t duration, start;
} Edit;

uint64_t number(const uint8_t *bytes, int length);
const uint8_t *peek(int64_t at, int length);
bool has_type(const Box *box, const char *type);
bool next_box(Walk *walk, int64_t *at, int64_t to, Box *box);
bool find_movie(Walk *walk, int64_t bytes_min, Box *movie, Clock *clock);
bool next_track(Walk *walk, int64_t *at, Box movie, Track *track);
bool find_box(Walk *walk, int64_t from, int64_t to, const char *type, Box *box);
Clock read_clock(Box header);
int read_edits(Box list, Edit edits[2]);
bool edits_are_plain(const Track *track, Clock movie);

// A table in the file: `count` entries of `width` bytes each.
typedef struct Table {
    int64_t from, count;
    int width;
} Table;
// The tables of uncompressed sound list every single sample. Up to `samples_max` samples are read together, as one
// packet. A frame of the codec has `frame_samples` samples and `frame_bytes` bytes. If `samples_max` is 0, the tables
// list packets.
typedef struct Group {
    int64_t samples_max, frame_samples, frame_bytes;
} Group;
// The tables of one track. `packet_bytes` is the size of each packet, or 0 if the sizes are in `sizes`.
typedef struct Tables {
    Table times, offsets, runs, sizes, chunks;
    int64_t packets, packet_bytes;
    Group group;
} Tables;
bool find_tables(const Track *track, Tables *tables);
bool has_whole_frames(const Tables *tables);
bool has_equal_lengths(const Tables *tables, int64_t end);

// One packet of a track. `start` and `length` are ticks.
typedef struct Packet {
    int64_t offset, start, length;
    int size;
} Packet;

enum { TABLE_BLOCK_BYTES = 4096 };
// Reads the entries of a table one after another.
typedef struct Reader {
    Table table;
    int64_t next, block_from;
    int block_length;
    uint8_t block[TABLE_BLOCK_BYTES];
} Reader;
// Reads the packets of a track one after another.
typedef struct Cursor {
    Reader times, runs, sizes, chunks;
    int64_t packet_bytes, packets_left;
    Group group;
    // `chunk_left` is the number of packets left in the current chunk. `length_left` is the number of packets, from the
    // next one on, that have the length `length`.
    int64_t chunk_left, length_left, length;
    // A run is a series of chunks with the same number of packets. `run` is the number of the first chunk of the
    // current run, and `next_run` that of the next run. The first chunk of the track has the number 1.
    int64_t run, chunk_packets, next_run, next_run_packets;
    Packet packet;
} Cursor;
const uint8_t *read_entry(Reader *reader);
void cursor_open(Cursor *cursor, const Tables *tables);
bool cursor_next(Cursor *cursor);
bool cursor_is_complete(const Cursor *cursor);

// A track whose packets are listed in fragments (fragments.c).
typedef struct FragmentTrack {
    int64_t id;
    bool is_audio;
    // The defaults of the box `trex`: the description of the codec, and the length and the size of a packet.
    int64_t description, length, size;
    // `end` is the end of all packets so far, in ticks. `last` is the start of the last packet, or -1 before the first
    // packet.
    int64_t end, last;
    // The offset of the last fragment with a part of this track, or -1.
    int64_t fragment;
    int64_t packets;
} FragmentTrack;
enum { TRACKS_MAX = 16 };
// Reads the packets of all tracks of a fragmented file, in the order of the file.
typedef struct Fragments {
    FragmentTrack tracks[TRACKS_MAX];
    int track_count;
    Walk walk;
    int64_t file_bytes;
    // `has_early_data` is true if data precedes the description of the tracks.
    bool has_movie, has_index, has_early_data;
    // The offset of the next box in the file, in the fragment (`moof`), and in the part of one track (`traf`).
    int64_t at, fragment_at, part_at;
    int64_t fragment_from, fragment_to, part_to;
    // The offset of the next packet, and the end of the data of this fragment so far.
    int64_t data_at, data_to;
    // The values of the part of one track (`traf`). `base` is the offset from which the data of the part is counted.
    // `time` is the start of the next packet of the part, or -1.
    FragmentTrack *track;
    int64_t base, description, length, size, time;
    bool has_runs;
    // The run (`trun`), which is a table of packets. `before` is the start of the packet before the run.
    int64_t run_flags, run_at, run_left, before;
    // The packet that was read last. `is_overlap` is true if the start of this packet is not after `before`.
    Packet packet;
    bool is_overlap;
    // True if the file was read to its end. False if the reading stopped at a box that only FFmpeg can read
    // (fragments.c).
    bool is_complete;
} Fragments;
bool fragments_open(Fragments *fragments, const FragmentTrack *tracks, int count, Box movie);
bool fragments_next(Fragments *fragments);

// The packets of one audio track. All times are ticks of the track.
typedef struct Audio {
    int64_t id;
    // The tables of the track. They are empty if all packets are in fragments.
    Tables tables;
    bool is_fragmented;
    bool has_list;
    // The number of ticks to add to a time in the tables or fragments. The sum is the time that a player shows.
    int64_t shift;
    // The packets that end at or before `from` are decoded, but their sound is dropped. The tables are read up to the
    // first packet that ends at or after `end`.
    int64_t from, end;
    int64_t duration;
} Audio;
const Audio *audio_track(int64_t id);
const Fragments *fragments_at_start(void);

#endif
