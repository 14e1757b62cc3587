// Reads the packets of a long MP4 file from its tables (tables.c) or its fragments (fragments.c), with the timestamps and
// the trims that FFmpeg would give them. FFmpeg has opened the file, but got only the beginning of it (show.c).

#include "boxes.h"
#include "media.h"
#include <libavutil/intreadwrite.h>
#include <libavutil/mathematics.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 32 * 1024 };

static struct {
    const Audio *track;
    Cursor cursor;
    Fragments fragments;
    bool more;
    // The number of samples to drop at the beginning of the first packet.
    int64_t skip;
    // The span of padding at the end, in samples of the decoder. It is set if `padding_to` is above 0.
    int64_t padding_from, padding_to;
    int64_t block_from;
    int block_length;
    uint8_t block[BLOCK_BYTES];
} state;

static int64_t to_samples(const AVStream *stream, int64_t ticks)
{
    return av_rescale_q(ticks, stream->time_base, (AVRational){1, stream->codecpar->sample_rate});
}

// Reads how many samples at the end are padding, as iTunes notes it.
static void read_padding(const AVFormatContext *format, const AVStream *stream)
{
    const AVDictionaryEntry *note = av_dict_get(format->metadata, "iTunSMPB", NULL, 0);
    int priming, remainder, samples;
    if (!note || sscanf(note->value, "%*X %X %X %X", &priming, &remainder, &samples) != 3 || remainder <= 0)
        return;
    const int64_t duration = to_samples(stream, state.track->duration);
    const int64_t padding = to_samples(stream, remainder);
    if (duration > padding && duration > to_samples(stream, samples)) {
        state.padding_from = duration - padding;
        state.padding_to = duration;
    }
}

// Moves to the next packet of the track. Returns false at the end.
static bool next_packet(void)
{
    if (!state.track->is_fragmented)
        return cursor_next(&state.cursor);
    while (fragments_next(&state.fragments))
        if (state.fragments.track->id == state.track->id)
            return true;
    return false;
}

static const Packet *this_packet(void)
{
    return state.track->is_fragmented ? &state.fragments.packet : &state.cursor.packet;
}

// Begins to read the packets of a stream. Returns false if FFmpeg must read them, because it would divide or change
// the packets of this codec.
bool packets_select(const AVFormatContext *format, int stream_index)
{
    static const enum AVCodecID codecs[] = {AV_CODEC_ID_AAC,  AV_CODEC_ID_ALAC,   AV_CODEC_ID_OPUS,
                                            AV_CODEC_ID_FLAC, AV_CODEC_ID_AMR_NB, AV_CODEC_ID_AMR_WB};
    const AVStream *stream = format->streams[stream_index];
    const AVCodecParameters *codec = stream->codecpar;
    bool is_listed = false;
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        is_listed = is_listed || codecs[i] == codec->codec_id;
    state.track = audio_track(stream->id);
    if (!is_listed || !state.track || codec->sample_rate <= 0)
        return false;
    const bool is_fragmented = state.track->is_fragmented;
    const bool has_trims = codec->codec_id == AV_CODEC_ID_AAC || (state.track->has_list && !is_fragmented);
    state.skip = has_trims ? codec->initial_padding : 0;
    if (is_fragmented && av_dict_get(format->metadata, "iTunSMPB", NULL, 0))
        return false;
    read_padding(format, stream);
    cursor_open(&state.cursor, &state.track->tables);
    state.fragments = *fragments_at_start();
    state.more = next_packet();
    return true;
}

// Reads from the file in blocks. Returns the number of bytes, which is smaller at the end of the file.
static int read_bytes(int64_t at, uint8_t *bytes, int length)
{
    if (length > BLOCK_BYTES)
        return input_read_at(at, bytes, length);
    if (at < state.block_from || at + length > state.block_from + state.block_length) {
        state.block_from = at;
        state.block_length = input_read_at(at, state.block, BLOCK_BYTES);
    }
    const int64_t rest = state.block_from + state.block_length - at;
    const int count = rest < length ? (int)rest : length;
    memcpy(bytes, state.block + (at - state.block_from), (size_t)count);
    return count;
}

// Returns the number of samples at the end of this packet that are padding.
static int64_t padding_of(const AVStream *stream, const AVPacket *packet)
{
    const int64_t start = to_samples(stream, packet->pts);
    const int64_t length = to_samples(stream, packet->duration);
    const int64_t samples = length > stream->codecpar->frame_size ? length : stream->codecpar->frame_size;
    if (!state.more && state.padding_to == 0 && !state.track->is_fragmented) {
        const int64_t rest = state.track->duration - packet->pts;
        const int64_t heard = rest < 0 ? 0 : rest < packet->duration ? rest : packet->duration;
        state.padding_from = start + to_samples(stream, heard);
        state.padding_to = to_samples(stream, state.track->duration);
    }
    if (state.padding_to == 0 || start + samples < state.padding_from || start >= state.padding_to)
        return 0;
    const int64_t padding = start + samples - state.padding_from;
    return padding < samples ? padding : samples;
}

// Tells the decoder which samples to drop.
static int add_trims(const AVStream *stream, AVPacket *packet)
{
    const int64_t padding = padding_of(stream, packet);
    if (state.skip <= 0 && padding <= 0)
        return 0;
    uint8_t *trims = av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, 10);
    if (!trims)
        return AVERROR(ENOMEM);
    AV_WL32(trims, (uint32_t)state.skip);
    AV_WL32(trims + 4, (uint32_t)padding);
    state.skip = 0;
    return 0;
}

// Reads the next packet, as av_read_frame does. Returns AVERROR_EOF at the end.
int packets_read(const AVStream *stream, AVPacket *packet)
{
    const Packet entry = *this_packet();
    const bool is_overlap = state.track->is_fragmented && state.fragments.is_overlap;
    if (!state.more)
        return AVERROR_EOF;
    if (av_new_packet(packet, entry.size) < 0)
        return AVERROR(ENOMEM);
    const int count = read_bytes(entry.offset, packet->data, entry.size);
    if (count == 0) {
        av_packet_unref(packet);
        return AVERROR_EOF;
    }
    if (count < entry.size) {
        av_shrink_packet(packet, count);
        packet->flags |= AV_PKT_FLAG_CORRUPT;
    }
    packet->stream_index = stream->index;
    packet->pos = entry.offset;
    packet->pts = packet->dts = entry.start + state.track->shift;
    packet->duration = entry.length;
    packet->flags |= AV_PKT_FLAG_KEY | (is_overlap ? AV_PKT_FLAG_DISCARD : 0);
    state.more = entry.start + entry.length < state.track->end && next_packet();
    return add_trims(stream, packet);
}
