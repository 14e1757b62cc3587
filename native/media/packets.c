// Gives FFmpeg the packets of a long MP4 file. A packet is a piece of coded sound. FFmpeg has opened only the beginning
// of the file (show.c), because its index of all packets would need much memory. Here, all packets are read from the
// two places where an MP4 file lists them: the tables of the track (tables.c), and the fragments that may follow
// (fragments.c). The packets get the times that FFmpeg would give them.
//
// Encoders add samples at the beginning (priming) and at the end (padding) that are not part of the recording.
// packets.c tells FFmpeg which samples these are, so that it drops them.

#include "boxes.h"
#include "media.h"
#include "reader.h"
// Private headers of FFmpeg. They are needed to check the header of an MP3 frame, and to tell FFmpeg which samples of a
// stream to drop.
#include <libavcodec/mpegaudiodecheader.h>
#include <libavformat/internal.h>
#include <libavformat/isom.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/mathematics.h>
#include <stdio.h>
#include <string.h>

// FFmpeg reads up to 1024 samples of uncompressed sound as one packet. Some codecs store a group of samples together,
// called a frame. A frame of at least 160 samples is a packet of its own.
enum { SAMPLES_GROUPED = 1024, LONG_FRAME = 160 };

static struct {
    Audio audio;
    int stream_index;
    Cursor cursor;
    Fragments fragments;
    bool more;
    // True while the packets of the tables are read. An MP4 file lists its first packets in the tables of the track.
    // Later parts of the file (fragments) may list more packets, which are read next.
    bool is_in_tables;
} state;

static int64_t to_samples(const AVStream *stream, int64_t ticks)
{
    return av_rescale_q(ticks, stream->time_base, (AVRational){1, stream->codecpar->sample_rate});
}

// Moves to the next packet of the track: first the packets in the tables of the MP4 track, then the packets in the
// fragments (later parts of the file with more packets). Returns false after the last packet.
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

// Tells FFmpeg which samples at the end of the sound to drop. An encoder added them, and iTunes writes their number
// (`remainder`) into the metadata `iTunSMPB`. Without this, the output would be some milliseconds too long.
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

// Tells FFmpeg at which sample the sound of the track ends. FFmpeg then drops the later samples of the last packet.
// FFmpeg finds this end itself only if it reads the packets itself.
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

// Tells FFmpeg how many samples at the beginning of the sound to drop. The encoder added them, so they are not part of
// the recording.
static void set_skip(AVStream *stream)
{
    const bool applies_list = state.audio.has_list && state.audio.tables.packets > 0;
    const bool has_skip = stream->codecpar->codec_id == AV_CODEC_ID_AAC || applies_list;
    ffstream(stream)->skip_samples = has_skip ? stream->codecpar->initial_padding : 0;
}

// The decoder of MP3 needs whole frames. All MP3 frames of a track last equally long. If the packets of the track do
// not last equally long, a packet is not always one frame, and may contain parts of frames. In this case, FFmpeg must
// put the frames together before it decodes them.
static void set_parsing(AVStream *stream)
{
    const MOVStreamContext *context = stream->priv_data;
    if (stream->codecpar->codec_id == AV_CODEC_ID_MP3 && !ffstream(stream)->need_parsing &&
        context->time_scale == stream->codecpar->sample_rate &&
        !has_equal_lengths(&state.audio.tables, state.audio.end))
        ffstream(stream)->need_parsing = AVSTREAM_PARSE_FULL;
}

// Sets how many samples of uncompressed sound are read as one packet: the same number that FFmpeg would read. This is a
// whole number of frames. A frame is the smallest group of samples that the codec stores. Returns false if a chunk
// (samples that are stored together) ends inside a frame, because this code cannot read such a file.
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

// An edit list can start the sound in the middle of a packet. With the codec Vorbis, FFmpeg drops such a packet
// completely. To give the same result, this function moves the start of the sound to the start of the next packet.
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

// Returns true for the sound of DV camcorders. FFmpeg's demuxer converts the bytes of this sound when it reads a packet.
// The code in this file reads the packets from the file without FFmpeg, so the bytes would not be converted. FFmpeg must
// therefore read the packets of this sound.
static bool is_dv(const AVCodecParameters *codec)
{
    return codec->codec_tag == MKTAG('d', 'v', 'c', 'a') || codec->codec_tag == MKTAG('v', 'd', 'v', 'a');
}

// Gives FFmpeg the next packet. Returns AVERROR_EOF after the last packet.
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
    // A packet of uncompressed sound contains many samples. The last packet of the track is cut at the end of the
    // track.
    if (state.audio.tables.group.samples_max > 0)
        packet->duration = FFMAX(state.audio.duration - packet->pts, 0);
    set_end(stream, packet);
    return 0;
}

// Makes FFmpeg get all packets of this stream from the function `read_packet`. Returns false if FFmpeg must read the
// file itself.
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
