// Reads the packets of a long MP4 file from its tables (tables.c) and its fragments (fragments.c), with the times and
// trims that FFmpeg would give them. FFmpeg has opened the file, but got only the beginning of it (show.c).

#include "boxes.h"
#include "media.h"
#include "reader.h"
// Private headers of FFmpeg. They give access to the sizes of frames and to the trims of a stream.
#include <libavcodec/mpegaudiodecheader.h>
#include <libavformat/internal.h>
#include <libavformat/isom.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/mathematics.h>
#include <stdio.h>
#include <string.h>

// FFmpeg puts up to 1024 samples of uncompressed sound into one packet. A frame with at least 160 samples is a packet
// of its own.
enum { SAMPLES_GROUPED = 1024, LONG_FRAME = 160 };

static struct {
    Audio audio;
    int stream_index;
    Cursor cursor;
    Fragments fragments;
    bool more;
    // True while the packets come from the tables. The fragments follow the tables.
    bool is_in_tables;
} state;

static int64_t to_samples(const AVStream *stream, int64_t ticks)
{
    return av_rescale_q(ticks, stream->time_base, (AVRational){1, stream->codecpar->sample_rate});
}

// Moves to the next packet of the track. Returns false at the end.
static bool next_packet(void)
{
    const Packet *packet = &state.cursor.packet;
    if (state.is_in_tables) {
        if (packet->start + packet->length < state.audio.end && cursor_next(&state.cursor))
            return true;
        state.is_in_tables = false;
    }
    while (state.audio.is_fragmented && fragments_next(&state.fragments))
        if (state.fragments.track->id == state.audio.id)
            return true;
    return false;
}

// Sets the padding at the end of the sound, which iTunes writes into the metadata. FFmpeg drops this padding.
static void set_padding(const AVFormatContext *format, AVStream *stream)
{
    FFStream *trims = ffstream(stream);
    const AVDictionaryEntry *note = av_dict_get(format->metadata, "iTunSMPB", NULL, 0);
    int priming, remainder, samples;
    trims->first_discard_sample = trims->last_discard_sample = 0;
    if (!note || sscanf(note->value, "%*X %X %X %X", &priming, &remainder, &samples) != 3 || remainder <= 0)
        return;
    const int64_t duration = to_samples(stream, state.audio.duration);
    const int64_t padding = to_samples(stream, remainder);
    if (duration > padding && duration > to_samples(stream, samples)) {
        trims->first_discard_sample = duration - padding;
        trims->last_discard_sample = duration;
    }
}

// Sets the end of the sound, as FFmpeg does at the last packet of a file without fragments.
static void set_end(AVStream *stream, const AVPacket *packet)
{
    FFStream *trims = ffstream(stream);
    const int64_t rest = state.audio.duration - packet->pts;
    const int64_t heard = rest < 0 ? 0 : rest < packet->duration ? rest : packet->duration;
    if (!trims->first_discard_sample)
        trims->first_discard_sample = to_samples(stream, packet->pts) + to_samples(stream, heard);
    if (!trims->last_discard_sample)
        trims->last_discard_sample = to_samples(stream, state.audio.duration);
}

// Sets how many samples at the beginning of the sound FFmpeg drops.
static void set_skip(AVStream *stream)
{
    const bool applies_list = state.audio.has_list && state.audio.tables.packets > 0;
    const bool has_skip = stream->codecpar->codec_id == AV_CODEC_ID_AAC || applies_list;
    ffstream(stream)->skip_samples = has_skip ? stream->codecpar->initial_padding : 0;
}

// Makes FFmpeg find the frames in MP3 packets of different lengths, because such packets can contain parts of frames.
static void set_parsing(AVStream *stream)
{
    const MOVStreamContext *context = stream->priv_data;
    if (stream->codecpar->codec_id == AV_CODEC_ID_MP3 && !ffstream(stream)->need_parsing &&
        context->time_scale == stream->codecpar->sample_rate &&
        !has_equal_lengths(&state.audio.tables, state.audio.end))
        ffstream(stream)->need_parsing = AVSTREAM_PARSE_FULL;
}

// Sets how many samples of uncompressed sound are one packet, as in FFmpeg. Returns false if a chunk has an incomplete
// frame.
static bool set_group(const AVStream *stream)
{
    const MOVStreamContext *context = stream->priv_data;
    Tables *tables = &state.audio.tables;
    if (tables->group.samples_max == 0)
        return true;
    const int64_t frame = context->samples_per_frame > 1 ? context->samples_per_frame : 1;
    tables->group = (Group){
        .samples_max = frame >= LONG_FRAME ? frame : SAMPLES_GROUPED / frame * frame,
        .frame_samples = frame,
        .frame_bytes = frame > 1 ? context->bytes_per_frame : context->sample_size,
    };
    return tables->group.frame_bytes > 0 && has_whole_frames(tables);
}

// Moves the start of the sound to the next packet if an edit begins inside a packet of Vorbis. FFmpeg drops such a
// packet completely.
static void set_first(const AVStream *stream)
{
    Audio *audio = &state.audio;
    if (stream->codecpar->codec_id != AV_CODEC_ID_VORBIS || audio->from == 0)
        return;
    cursor_open(&state.cursor, &audio->tables);
    while (cursor_next(&state.cursor) && state.cursor.packet.start < audio->from)
        ;
    audio->shift += audio->from - state.cursor.packet.start;
    audio->from = state.cursor.packet.start;
}

// Returns true for DV sound. FFmpeg changes the packets of this codec, so FFmpeg must read them itself.
static bool is_dv(const AVCodecParameters *codec)
{
    return codec->codec_tag == MKTAG('d', 'v', 'c', 'a') || codec->codec_tag == MKTAG('v', 'd', 'v', 'a');
}

// Reads the next packet. Returns AVERROR_EOF at the end.
static int read_packet(AVFormatContext *format, AVPacket *packet)
{
    AVStream *stream = format->streams[state.stream_index];
    const bool is_in_tables = state.is_in_tables;
    const Packet entry = is_in_tables ? state.cursor.packet : state.fragments.packet;
    const bool is_dropped =
        is_in_tables ? entry.start + entry.length <= state.audio.from : state.fragments.is_overlap;
    if (!state.more)
        return AVERROR_EOF;
    state.more = next_packet();
    const int result = reader_fill(packet, entry.offset, entry.size);
    if (result < 0)
        return result;
    packet->stream_index = stream->index;
    packet->pts = packet->dts = entry.start + state.audio.shift;
    packet->duration = entry.length;
    packet->flags |= AV_PKT_FLAG_KEY | (is_dropped ? AV_PKT_FLAG_DISCARD : 0);
    if (stream->codecpar->codec_id == AV_CODEC_ID_MP3 && !ffstream(stream)->need_parsing && packet->size > 4 &&
        ff_mpa_check_header(AV_RB32(packet->data)) < 0)
        ffstream(stream)->need_parsing = AVSTREAM_PARSE_FULL;
    if (state.more || state.audio.is_fragmented)
        return 0;
    // The last packet of uncompressed sound ends with the track.
    if (state.audio.tables.group.samples_max > 0)
        packet->duration = FFMAX(state.audio.duration - packet->pts, 0);
    set_end(stream, packet);
    return 0;
}

// Begins to read the packets of a stream. Returns false if FFmpeg must read them.
bool packets_select(AVFormatContext *format, int stream_index)
{
    AVStream *stream = format->streams[stream_index];
    const Audio *audio = audio_track(stream->id);
    if (strncmp(format->iformat->name, "mov,", 4) != 0 || !audio || stream->codecpar->sample_rate <= 0)
        return false;
    state.audio = *audio;
    state.stream_index = stream_index;
    if (is_dv(stream->codecpar) || !set_group(stream) ||
        (audio->is_fragmented && av_dict_get(format->metadata, "iTunSMPB", NULL, 0)))
        return false;
    reader_install(format, read_packet);
    set_padding(format, stream);
    set_skip(stream);
    set_parsing(stream);
    set_first(stream);
    cursor_open(&state.cursor, &state.audio.tables);
    state.fragments = *fragments_at_start();
    state.is_in_tables = true;
    state.more = next_packet();
    return true;
}
