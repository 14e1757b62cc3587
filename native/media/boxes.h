// The structure of an MP4 file (ISO/IEC 14496-12). The words of this file, of boxes.c, tables.c, fragments.c, show.c
// and packets.c:
// - box: a part of the file with a size, a type of four letters such as `moov`, and a content. The content may be more
//   boxes.
// - track: the sound, the pictures or the subtitles. The box `trak`, which is in the box `moov`, describes one track.
// - packet: a piece of coded sound that is decoded as a whole. The standard calls it a sample. In this program, a
//   sample is always one number of the sound wave.
// - chunk: packets of one track that are stored together, without other bytes between them.
// - tables: boxes that list the size, the length in time and the chunk of all packets of a track (tables.c).
// - fragment: a box `moof`, which lists more packets, and a box `mdat` with their bytes. Programs that write a file
//   while they record use fragments (fragments.c).
// - run: in the tables, a series of chunks with the same number of packets. In a fragment, a list of packets (`trun`).
// - tick: the unit of time. The timescale is the number of ticks in a second. Each track has its own timescale.
// - edit list: tells which part of a track is played, and how much silence precedes it.

#ifndef STENO_BOXES_H
#define STENO_BOXES_H

#include <stdbool.h>
#include <stdint.h>

// A box of the file. Its content begins at the byte position `from` and ends before the byte position `to`.
typedef struct Box {
    char type[4];
    int64_t from, to;
} Box;

// A walk reads the boxes of a file one after another. `boxes_left` is the number of boxes that it may still read.
// Without this limit, a hostile file with millions of boxes would take too much CPU time.
typedef struct Walk {
    int boxes_left;
    // True if the size of a box exceeded the box around it. The file is then cut off or damaged.
    bool is_cut;
} Walk;
enum { BOXES_MAX = 10000 };

// The kinds of boxes that are read in a track. Each name is the type of a box in capitals: STTS is the box `stts`.
enum { TKHD, HDLR, MDHD, ELST, STSD, STTS, CTTS, STSC, STSZ, STCO, CO64, KINDS };
// The boxes of one track. `count` tells how often each kind of box occurs, and `boxes` has the first box of each kind.
typedef struct Track {
    int count[KINDS];
    Box boxes[KINDS];
} Track;

// The unit of time and the duration of the movie or of a track. `timescale` is the number of ticks in a second, and
// `duration` is a number of ticks.
typedef struct Clock {
    int64_t timescale, duration;
} Clock;

// An entry of an edit list. It plays the track from the time `start` for the time `duration`. If `start` is -1, it
// plays silence. `duration` is in ticks of the movie, and `start` is in ticks of the track.
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

// A table in the file. It begins at the byte position `from` and has `count` entries of `width` bytes each.
typedef struct Table {
    int64_t from, count;
    int width;
} Table;
// The tables of uncompressed sound list each sample as a packet: one second at 48 kHz has 48,000 packets. To save time,
// up to `samples_max` samples are read together, as one packet. A frame is the smallest group that the codec stores:
// `frame_samples` samples in `frame_bytes` bytes. For compressed sound, `samples_max` is 0.
typedef struct Group {
    int64_t samples_max, frame_samples, frame_bytes;
} Group;
// The tables of one track: `times` is the box `stts`, `offsets` is `ctts`, `runs` is `stsc`, `sizes` is `stsz`, and
// `chunks` is `stco` or `co64`. If all packets have the same size, `packet_bytes` is this size. Otherwise it is 0.
typedef struct Tables {
    Table times, offsets, runs, sizes, chunks;
    int64_t packets, packet_bytes;
    Group group;
} Tables;
bool find_tables(const Track *track, Tables *tables);
bool has_whole_frames(const Tables *tables);
bool has_equal_lengths(const Tables *tables, int64_t end);

// One packet of a track. `offset` is its position in the file and `size` is its size, both in bytes. `start` is the
// time at which it starts and `length` is how long it lasts, both in ticks.
typedef struct Packet {
    int64_t offset, start, length;
    int size;
} Packet;

enum { TABLE_BLOCK_BYTES = 4096 };
// Reads the entries of a table one after another. `next` is the number of the next entry. `block` is a buffer with a
// part of the table.
typedef struct Reader {
    Table table;
    int64_t next, block_from;
    int block_length;
    uint8_t block[TABLE_BLOCK_BYTES];
} Reader;
// Reads the packets of a track one after another from its tables. The cursor has a position in each table.
typedef struct Cursor {
    Reader times, runs, sizes, chunks;
    int64_t packet_bytes, packets_left;
    Group group;
    // `chunk_left` is the number of packets that are left in the current chunk. The table `times` has one entry for
    // several packets of the same length: the next `length_left` packets last `length` ticks each.
    int64_t chunk_left, length_left, length;
    // A run is a series of chunks with the same number of packets. The current run begins with the chunk number `run`,
    // and each of its chunks has `chunk_packets` packets. The next run begins with the chunk number `next_run`. The
    // first chunk of the track has the number 1.
    int64_t run, chunk_packets, next_run, next_run_packets;
    Packet packet;
} Cursor;
const uint8_t *read_entry(Reader *reader);
void cursor_open(Cursor *cursor, const Tables *tables);
bool cursor_next(Cursor *cursor);
bool cursor_is_complete(const Cursor *cursor);

// A track of a file with fragments, and how far its packets have been read.
typedef struct FragmentTrack {
    int64_t id;
    bool is_audio;
    // The default values from the box `trex`, for packets whose fragment has no values: the number of the codec's
    // description, the length of a packet in ticks, and its size in bytes.
    int64_t description, length, size;
    // The last packet that was read: `last` is the time at which it starts, and `end` is the time at which it ends, in
    // ticks. `last` is -1 if no packet was read.
    int64_t end, last;
    // The byte position of the last fragment that listed packets of this track, or -1 if there was none.
    int64_t fragment;
    int64_t packets;
} FragmentTrack;
enum { TRACKS_MAX = 16 };
// Reads the packets of all tracks in a file with fragments, in the order in which the file lists them.
typedef struct Fragments {
    FragmentTrack tracks[TRACKS_MAX];
    int track_count;
    Walk walk;
    int64_t file_bytes;
    // `has_early_data` is true if the bytes of packets (`mdat`) precede the description of the tracks (`moov`).
    bool has_movie, has_index, has_early_data;
    // The byte positions of the next box in the file (`at`), in the current fragment `moof` (`fragment_at`), and in the
    // current part `traf` (`part_at`), which lists packets of one track.
    int64_t at, fragment_at, part_at;
    int64_t fragment_from, fragment_to, part_to;
    // `data_at` is the byte position of the next packet. `data_to` is the highest byte position at which a packet of
    // this fragment ends, among the packets that were read.
    int64_t data_at, data_to;
    // The values of the current part (`traf`), which lists the packets of one track in a fragment. The byte positions
    // of the packets are counted from `base`. `time` is the time at which the next packet starts, in ticks. It is -1 if
    // no packet of the part was read and the part gives no time.
    FragmentTrack *track;
    int64_t base, description, length, size, time;
    bool has_runs;
    // The current run (`trun`), which is a list of packets. `run_at` is the byte position of the next entry, and
    // `run_left` is the number of entries left. `before` is the start time, in ticks, of the last packet of this track
    // before the run.
    int64_t run_flags, run_at, run_left, before;
    // The packet that was read last, from the current run (a list of packets). `is_overlap` is true if this packet does
    // not start later than `before`, the start time of the track's last packet before the run. FFmpeg decodes such a
    // packet but drops its sound, so packets.c does the same.
    Packet packet;
    bool is_overlap;
    // True if the file was read to its end. False if it has a part that only FFmpeg can read. FFmpeg then reads the
    // whole file.
    bool is_complete;
} Fragments;
bool fragments_open(Fragments *fragments, const FragmentTrack *tracks, int count, Box movie);
bool fragments_next(Fragments *fragments);

// An audio track of an MP4 file, and which part of it is played. All times are in ticks of the track.
typedef struct Audio {
    int64_t id;
    // The tables of the track. They are empty if all packets are in fragments.
    Tables tables;
    bool is_fragmented;
    bool has_list;
    // The tables or fragments give the time at which each packet starts. This time plus `shift` is the time at which a
    // player plays the packet. `shift` comes from the edit list of the track.
    int64_t shift;
    // The edit list plays the track from the time `from` to the time `end`. The packets before `from` are decoded too,
    // but their sound is dropped. The first packet that reaches `end` is the last packet that is read from the tables.
    int64_t from, end;
    int64_t duration;
} Audio;
const Audio *audio_track(int64_t id);
const Fragments *fragments_at_start(void);

#endif
