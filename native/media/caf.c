// Reads the packets of a long CAF file (Apple's Core Audio Format). The file consists of chunks with a type of four
// letters: `desc` describes the sound, `data` contains the packets, and the packet table `pakt` lists their sizes. A
// packet is a piece of coded sound. The table stays in the file, so a file of any length takes the same memory. FFmpeg
// would keep 24 bytes of memory for each packet, so it gets only the beginning of the table.

#include "boxes.h"
#include "media.h"
#include "reader.h"
#include <libavutil/intreadwrite.h>
#include <string.h>

enum { FILE_HEAD_BYTES = 8, CHUNK_HEAD_BYTES = 12, CHUNKS_MAX = 1000, TABLE_HEAD_BYTES = 24 };
// `caf_find` shows FFmpeg only this many packets of the packet table, so that FFmpeg needs little memory. To find the
// codec, FFmpeg reads fewer packets than this.
enum { PACKETS_SHOWN = 8192 };
// If the packet table has at most this many packets, FFmpeg reads the file itself. It needs up to 2 MB of memory for
// the table.
enum { SHORT_PACKETS_MAX = 65536 };
// A number in the packet table has one to four bytes. Each byte has seven bits of the number, and one bit that tells
// whether another byte follows.
enum { NUMBER_BYTES_MAX = 4 };

static struct {
    // The size of a packet in bytes, and its length in samples. 0 means that the packets differ: the packet table then
    // has the value of each packet.
    int64_t packet_bytes, packet_samples;
    // Samples that the encoder has added: `priming` samples at the beginning and `remainder` samples at the end. They
    // are not part of the recording, so they are dropped after decoding.
    uint32_t priming, remainder;
    // The byte positions of the packet table and of the packets: where they begin, and where they end.
    int64_t table_from, table_to, data_from, data_to;
    int64_t packets;
    // The next packet: the byte position of its entry in the packet table (`entry_at`), the byte position of the packet
    // itself (`offset`), the time at which it starts, in samples (`start`), and its number (`read`).
    int64_t entry_at, offset, start, read;
} file;

// Reads the next number of the packet table. Returns 0 at the end of the table.
static int64_t take_number(void)
{
    int64_t value = 0;
    for (int i = 0; i < NUMBER_BYTES_MAX && file.entry_at < file.table_to; i++) {
        const uint8_t *byte = peek(file.entry_at++, 1);
        if (!byte)
            return 0;
        value = value << 7 | (*byte & 0x7f);
        if (!(*byte & 0x80))
            return value;
    }
    return value;
}

// Finds the size in bytes and the length in samples of the next packet. The table has only values that differ between
// the packets.
static void take_entry(int64_t *size, int64_t *length)
{
    *size = file.packet_bytes > 0 ? file.packet_bytes : take_number();
    *length = file.packet_samples > 0 ? file.packet_samples : take_number();
}

static void rewind_table(void)
{
    file.entry_at = file.table_from + TABLE_HEAD_BYTES;
    file.offset = file.data_from;
    file.start = -(int64_t)file.priming;
    file.read = 0;
}

// Finds the packet table (`pakt`) and the packets (`data`) in the file. Returns false if one of them is missing or
// occurs twice.
static bool find_chunks(void)
{
    const int64_t end = input_size();
    int64_t at = FILE_HEAD_BYTES;
    for (int chunks = 0; chunks < CHUNKS_MAX && at <= end - CHUNK_HEAD_BYTES; chunks++) {
        const uint8_t *head = peek(at, CHUNK_HEAD_BYTES);
        const int64_t from = at + CHUNK_HEAD_BYTES;
        const int64_t size = head ? (int64_t)number(head + 4, 8) : -1;
        if (size < 0 || size > end - from)
            return false;
        const bool is_table = memcmp(head, "pakt", 4) == 0;
        if ((is_table && file.table_from > 0) || (memcmp(head, "data", 4) == 0 && file.data_from > 0))
            return false;
        if (is_table) {
            file.table_from = from;
            file.table_to = from + size;
        } else if (memcmp(head, "data", 4) == 0) {
            // The chunk `data` begins with a number of four bytes that is not needed here. The packets follow it.
            file.data_from = from + 4;
            file.data_to = from + size;
        }
        at = from + size;
    }
    return at == end && file.table_to - file.table_from >= TABLE_HEAD_BYTES && file.data_from < file.data_to;
}

// Returns true if no packet is empty, and if all packets together have as many bytes as the chunk `data`.
static bool is_regular(void)
{
    int64_t size, length = 0;
    for (rewind_table(); file.read < file.packets; file.read++) {
        take_entry(&size, &length);
        if (size == 0 || length == 0 || file.offset > file.data_to)
            return false;
        file.offset += size;
        file.start += length;
    }
    // `length` is now the length of the last packet, and `file.start` the length of the whole sound. The `remainder`
    // samples at the end of the last packet are dropped after decoding. Both lengths must be larger than `remainder`:
    // the duration of the last packet without these samples must be positive, and some sound must remain.
    return file.offset == file.data_to && length > file.remainder && file.start > file.remainder;
}

// Returns true if this is a long CAF file whose packet table this code can read. Then also makes the table shorter for
// FFmpeg, so that FFmpeg does not keep the whole table in memory.
bool caf_find(void)
{
    static const uint8_t magic[] = {'c', 'a', 'f', 'f', 0, 1};
    memset(&file, 0, sizeof file);
    const uint8_t *head = peek(0, FILE_HEAD_BYTES + CHUNK_HEAD_BYTES + 32);
    if (!head || memcmp(head, magic, sizeof magic) != 0 || memcmp(head + 8, "desc", 4) != 0)
        return false;
    const uint8_t *description = head + FILE_HEAD_BYTES + CHUNK_HEAD_BYTES;
    file.packet_bytes = (int64_t)number(description + 16, 4);
    file.packet_samples = (int64_t)number(description + 20, 4);
    if ((file.packet_bytes > 0 && file.packet_samples > 0) || !find_chunks())
        return false;
    const uint8_t *table = peek(file.table_from, TABLE_HEAD_BYTES);
    if (!table)
        return false;
    file.packets = (int64_t)number(table, 8);
    file.priming = (uint32_t)number(table + 16, 4);
    file.remainder = (uint32_t)number(table + 20, 4);
    if (file.packets <= SHORT_PACKETS_MAX || file.packets > UINT32_MAX || !is_regular())
        return false;
    input_replace(file.table_from + 4, PACKETS_SHOWN);
    return true;
}

// Tells the decoder of FFmpeg how many samples of a packet to drop: `first` samples at its beginning, and `last`
// samples at its end.
static int add_trims(AVPacket *packet, uint32_t first, uint32_t last)
{
    uint8_t *trims = first > 0 || last > 0 ? av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, 10) : NULL;
    if (!trims)
        return first > 0 || last > 0 ? AVERROR(ENOMEM) : 0;
    AV_WL32(trims, first);
    AV_WL32(trims + 4, last);
    return 0;
}

// Reads the next packet of the file for FFmpeg. Returns AVERROR_EOF after the last packet.
static int read_packet(AVFormatContext *format, AVPacket *packet)
{
    int64_t size, length;
    if (file.read == file.packets)
        return AVERROR_EOF;
    take_entry(&size, &length);
    const int result = reader_fill(packet, file.offset, (int)size);
    if (result < 0)
        return result;
    const bool is_first = file.read == 0;
    const bool is_last = file.read == file.packets - 1;
    packet->stream_index = format->streams[0]->index;
    packet->pts = packet->dts = file.start;
    packet->duration = is_last ? length - file.remainder : length;
    file.offset += size;
    file.start += length;
    file.read += 1;
    return add_trims(packet, is_first ? file.priming : 0, is_last ? file.remainder : 0);
}

// Makes FFmpeg get all packets of a CAF file from the function `read_packet`, because FFmpeg itself sees only the
// beginning of the packet table. Returns false if FFmpeg has opened the file in another format.
bool caf_select(AVFormatContext *format)
{
    if (strcmp(format->iformat->name, "caf") != 0)
        return false;
    rewind_table();
    reader_install(format, read_packet);
    return true;
}
