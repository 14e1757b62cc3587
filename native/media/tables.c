// Reads the packets of an MP4 track from its tables. A packet is a piece of coded sound. The tables are boxes that list
// the size, the length in time and the position in the file of all packets. The tables stay in the file, so a track of
// any length takes the same memory. FFmpeg would keep 40 bytes of memory for each packet, or 24 bytes for each packet
// of uncompressed sound.

#include "boxes.h"
#include "media.h"

// The maximum size of a packet, in bytes. If a packet of the audio track is larger, this code leaves the file to
// FFmpeg.
enum { PACKET_BYTES_MAX = 1024 * 1024 };

// Finds the table in a box. The number of entries is at the byte `count_at` of the content of the box, and entries of
// `width` bytes follow. Returns false if the box is too small for them.
static bool find_table(Box box, int count_at, int width, Table *table)
{
    uint8_t bytes[4];
    if (input_read_at(box.from + count_at, bytes, sizeof bytes) < (int)sizeof bytes)
        return false;
    const int64_t from = box.from + count_at + (int)sizeof bytes;
    *table = (Table){from, (int64_t)number(bytes, 4), width};
    return table->count <= (box.to - from) / width;
}

// Finds the tables of a track. Returns false if one of them is missing or too short, or if a kind of box occurs twice.
// Only the box `hdlr` (the kind of the track) may occur twice: QuickTime adds a second one, which tells how the data is
// stored.
bool find_tables(const Track *track, Tables *tables)
{
    const bool is_wide = track->count[CO64] > 0;
    const Box *boxes = track->boxes;
    uint8_t bytes[12];
    *tables = (Tables){0};
    for (int kind = 0; kind < KINDS; kind++)
        if (track->count[kind] > 1 && kind != HDLR)
            return false;
    if (!track->count[STTS] || !track->count[STSC] || !track->count[STSZ] ||
        track->count[STCO] + track->count[CO64] != 1)
        return false;
    if (input_read_at(boxes[STSZ].from, bytes, sizeof bytes) < (int)sizeof bytes)
        return false;
    tables->packet_bytes = (int64_t)number(bytes + 4, 4);
    tables->packets = (int64_t)number(bytes + 8, 4);
    tables->sizes = (Table){boxes[STSZ].from + 12, tables->packets, 4};
    if (tables->packet_bytes == 0 && !find_table(boxes[STSZ], 8, 4, &tables->sizes))
        return false;
    return find_table(boxes[STTS], 4, 8, &tables->times) && find_table(boxes[STSC], 4, 12, &tables->runs) &&
           find_table(boxes[is_wide ? CO64 : STCO], 4, is_wide ? 8 : 4, &tables->chunks) &&
           (!track->count[CTTS] || find_table(boxes[CTTS], 4, 8, &tables->offsets));
}

// Returns true if no chunk ends inside a frame. A chunk is a group of packets that are stored together. A frame is the
// smallest group of samples that the codec stores.
bool has_whole_frames(const Tables *tables)
{
    Reader reader = {.table = tables->runs};
    for (const uint8_t *entry; (entry = read_entry(&reader));)
        if (number(entry + 4, 4) % (uint64_t)tables->group.frame_samples != 0)
            return false;
    return true;
}

// Returns true if all packets that start before the time `end` have the same duration. `end` is in ticks, the unit of
// time of the track.
bool has_equal_lengths(const Tables *tables, int64_t end)
{
    Reader reader = {.table = tables->times};
    int64_t start = 0, first = 0;
    for (const uint8_t *entry; start < end && (entry = read_entry(&reader));) {
        const int64_t length = (int64_t)number(entry + 4, 4);
        if (first > 0 && length != first)
            return false;
        first = length;
        start += (int64_t)number(entry, 4) * length;
    }
    return true;
}

// Returns the bytes of the next entry of a table. Returns null at the end of the table, or if the file ends earlier.
const uint8_t *read_entry(Reader *reader)
{
    const Table table = reader->table;
    const int64_t at = table.from + reader->next * table.width;
    if (reader->next >= table.count)
        return NULL;
    if (at < reader->block_from || at + table.width > reader->block_from + reader->block_length) {
        reader->block_from = at;
        reader->block_length = input_read_at(at, reader->block, TABLE_BLOCK_BYTES);
        if (reader->block_length < table.width)
            return NULL;
    }
    reader->next += 1;
    return reader->block + (at - reader->block_from);
}

// Reads the next entry of the table `stsc`. Each entry is for a run, which is a series of chunks with the same number
// of packets. It gives the number of the first chunk, and the number of packets in each chunk. Returns false if the
// entry is invalid.
static bool read_run(Cursor *cursor)
{
    const int64_t after = cursor->next_run;
    const uint8_t *entry = read_entry(&cursor->runs);
    cursor->next_run = entry ? (int64_t)number(entry, 4) : INT64_MAX;
    cursor->next_run_packets = entry ? (int64_t)number(entry + 4, 4) : 0;
    const bool is_described_first = !entry || number(entry + 8, 4) == 1;
    return cursor->next_run > after && is_described_first;
}

void cursor_open(Cursor *cursor, const Tables *tables)
{
    *cursor = (Cursor){
        .packet_bytes = tables->packet_bytes, .packets_left = tables->packets, .group = tables->group};
    cursor->times.table = tables->times;
    cursor->runs.table = tables->runs;
    cursor->sizes.table = tables->sizes;
    cursor->chunks.table = tables->chunks;
}

static bool begin_chunk(Cursor *cursor)
{
    if (cursor->next_run == 0 && (!read_run(cursor) || cursor->next_run != 1))
        return false;
    const uint8_t *entry = read_entry(&cursor->chunks);
    if (!entry)
        return false;
    if (cursor->chunks.next == cursor->next_run) {
        cursor->run = cursor->next_run;
        cursor->chunk_packets = cursor->next_run_packets;
        if (!read_run(cursor))
            return false;
    }
    cursor->chunk_left = cursor->chunk_packets;
    cursor->packet.offset = (int64_t)number(entry, cursor->chunks.table.width);
    cursor->packet.size = 0;
    return cursor->chunk_left > 0 && cursor->packet.offset >= 0 && cursor->packet.offset < INT64_MAX / 2;
}

static bool begin_length(Cursor *cursor)
{
    const uint8_t *entry = read_entry(&cursor->times);
    if (!entry)
        return false;
    cursor->length_left = (int64_t)number(entry, 4);
    cursor->length = (int64_t)number(entry + 4, 4);
    return cursor->length_left > 0 && cursor->length > 0 && cursor->length <= INT32_MAX;
}

static int64_t next_size(Cursor *cursor, int64_t samples)
{
    if (cursor->group.samples_max > 0)
        return samples / cursor->group.frame_samples * cursor->group.frame_bytes;
    const uint8_t *entry = cursor->packet_bytes > 0 ? NULL : read_entry(&cursor->sizes);
    return entry ? (int64_t)number(entry, 4) : cursor->packet_bytes;
}

// Moves to the next packet of the track. Returns false at the end of the tables, or if the tables are invalid.
bool cursor_next(Cursor *cursor)
{
    Packet *packet = &cursor->packet;
    if (cursor->packets_left <= 0)
        return false;
    packet->start += packet->length;
    packet->offset += packet->size;
    if (cursor->chunk_left == 0 && !begin_chunk(cursor))
        return false;
    if (cursor->length_left == 0 && !begin_length(cursor))
        return false;
    const int64_t samples_max = cursor->group.samples_max > 0 ? cursor->group.samples_max : 1;
    const int64_t samples = cursor->chunk_left < samples_max ? cursor->chunk_left : samples_max;
    const int64_t size = next_size(cursor, samples);
    packet->size = size <= PACKET_BYTES_MAX ? (int)size : 0;
    packet->length = samples * cursor->length;
    cursor->packets_left -= samples;
    cursor->chunk_left -= samples;
    cursor->length_left -= samples;
    return packet->size > 0 && cursor->packets_left >= 0 && cursor->length_left >= 0;
}

// Returns true if no table has an entry left after the last packet. Otherwise the tables contradict each other, and the
// file is left to FFmpeg.
bool cursor_is_complete(const Cursor *cursor)
{
    return cursor->packets_left == 0 && cursor->chunk_left == 0 && cursor->length_left == 0 &&
           cursor->times.next == cursor->times.table.count && cursor->runs.next == cursor->runs.table.count &&
           cursor->next_run == INT64_MAX && cursor->chunks.next == cursor->chunks.table.count;
}
