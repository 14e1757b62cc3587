// Gives FFmpeg the packets of a long file. If FFmpeg read the packets itself, it would keep an index of all packets in
// memory. A packet is a piece of coded sound. FFmpeg still divides the packets into frames, decodes them, and drops the
// samples that are not part of the recording.

#include "reader.h"
#include "media.h"
#include <string.h>

enum { BLOCK_BYTES = 32 * 1024 };

// Makes FFmpeg call the function `read` for every packet, from the first packet on.
void reader_install(AVFormatContext *format, ReadPacket *read)
{
    static FFInputFormat container;
    container = *ffifmt(format->iformat);
    container.read_packet = read;
    format->iformat = &container.p;
    avformat_flush(format);
}

// Reads `length` bytes of the file from the byte position `at`, through a buffer. Returns the number of bytes, which is
// smaller at the end of the file.
static int read_bytes(int64_t at, uint8_t *bytes, int length)
{
    static uint8_t block[BLOCK_BYTES];
    static int64_t block_from;
    static int block_length;
    if (length > BLOCK_BYTES)
        return input_read_at(at, bytes, length);
    if (at < block_from || at + length > block_from + block_length) {
        block_from = at;
        block_length = input_read_at(at, block, BLOCK_BYTES);
    }
    const int64_t rest = block_from + block_length - at;
    const int count = rest < length ? (int)rest : length;
    memcpy(bytes, block + (at - block_from), (size_t)count);
    return count;
}

// Fills a packet with `size` bytes of the file from the byte position `at`. If the file ends inside the packet, the
// packet becomes shorter and is marked as damaged. Returns AVERROR_EOF if the file ends before the packet, and
// AVERROR_INVALIDDATA for an impossible position.
int reader_fill(AVPacket *packet, int64_t at, int size)
{
    if (at > OFFSET_MAX)
        return AVERROR_INVALIDDATA;
    if (av_new_packet(packet, size) < 0)
        return AVERROR(ENOMEM);
    const int count = read_bytes(at, packet->data, size);
    if (count == 0) {
        av_packet_unref(packet);
        return AVERROR_EOF;
    }
    if (count < size) {
        av_shrink_packet(packet, count);
        packet->flags |= AV_PKT_FLAG_CORRUPT;
    }
    packet->pos = at;
    return 0;
}
