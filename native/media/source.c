// An open media file: its container, the selected audio stream, and the decoder. FFmpeg reads only from stdin, and it
// has only the containers and codecs in configure.txt.

#include "media.h"
// A private header of FFmpeg. Only it gives access to the index of a stream.
#include <libavformat/internal.h>
#include <libavutil/opt.h>
#include <string.h>

// The maximum media time that FFmpeg analyses to find the streams, in microseconds. If the headers are at the end of
// the file, FFmpeg finds them by seeking.
static const int64_t probe_microseconds = 60000000;
// The number of failed reads in a row after which the file is treated as ended. A damaged file can be readable after a
// damaged position, so a single failed read does not end the file.
enum { FAILED_READS_MAX = 64 };
enum { OGG_PAGE_BYTES_MAX = 27 + 255 + 255 * 255 };

// Containers that store frames without timestamps. FFmpeg computes the times of these frames, but the times are wrong
// after a change of the sample rate.
static const char without_timestamps[] = " mp3 aac loas ac3 eac3 dts dtshd truehd mlp amr amrnb amrwb gsm ";
// Returns true if the list, which has spaces around each name, contains the name.
bool is_listed(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = strstr(names, name); at; at = strstr(at + 1, name))
        if (at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

// Opens the container and finds its streams. Returns null, or the reason of a refusal.
static const char *open_format(Source *source, const Order *order, int64_t from)
{
    AVFormatContext *format = avformat_alloc_context();
    AVIOContext *io = input_open();
    if (!format || !io)
        return "too-large";
    format->pb = io;
    format->probesize = order->probe_bytes;
    format->max_analyze_duration = probe_microseconds;
    // The frame rate of pictures is not needed.
    format->fps_probe_size = 0;
    format->skip_initial_bytes = from;
    // The exact length is measured later, so FFmpeg need not estimate it from the last packets.
    format->skip_estimate_duration_from_pts = 1;
    AVDictionary *options = NULL;
    if (!source->has_tables && edits_shift_only(INDEX_BYTES_MIN))
        av_dict_set(&options, "advanced_editlist", "0", 0);
    int result = avformat_open_input(&format, NULL, NULL, &options);
    av_dict_free(&options);
    if (result < 0)
        input_close(io);
    if (result >= 0) {
        source->format = format;
        result = find_streams(format);
        wav_correct_codec(format);
    }
    return result == AVERROR(ENOMEM) ? "too-large" : result < 0 ? "not-media" : NULL;
}

static void close_format(Source *source)
{
    if (!source->format)
        return;
    AVIOContext *io = source->format->pb;
    avformat_close_input(&source->format);
    input_close(io);
}

// Opens the decoder of a stream. Returns null, or the reason of a refusal. `source->decoder` stays null if FFmpeg has
// no decoder for the stream, or if the decoder rejects it.
static const char *open_decoder(Source *source, const AVStream *stream)
{
    const AVCodec *codec = avcodec_find_decoder(stream->codecpar->codec_id);
    AVCodecContext *decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!codec)
        return NULL;
    if (!decoder)
        return "too-large";
    int result = avcodec_parameters_to_context(decoder, stream->codecpar);
    decoder->pkt_timebase = stream->time_base;
    decoder->thread_count = 1;
    if (result >= 0)
        result = avcodec_open2(decoder, codec, NULL);
    if (result >= 0)
        source->decoder = decoder;
    else
        avcodec_free_context(&decoder);
    return result == AVERROR(ENOMEM) ? "too-large" : NULL;
}

// Tracks that accompany the main sound: commentary, the description of pictures, and sound without speech.
static const int secondary_roles =
    AV_DISPOSITION_COMMENT | AV_DISPOSITION_VISUAL_IMPAIRED | AV_DISPOSITION_CLEAN_EFFECTS | AV_DISPOSITION_DEPENDENT;

bool is_secondary(const AVStream *stream)
{
    return (stream->disposition & secondary_roles) != 0;
}

// Returns the rank of an audio stream. Media players play the stream with the highest rank.
static int rank_of(const AVStream *stream)
{
    const int is_main = !is_secondary(stream);
    const int is_default = (stream->disposition & AV_DISPOSITION_DEFAULT) != 0;
    return 2 * is_main + is_default;
}

// Returns the number of a track on a DVD, and 0 in other containers. FFmpeg orders the tracks of a DVD as they occur in
// the file, but a file from the middle of a film can begin with any track. So the number gives the order.
static int track_of(const AVFormatContext *format, const AVStream *stream)
{
    return strcmp(format->iformat->name, "mpeg") == 0 ? stream->id & 7 : 0;
}

static bool precedes(const AVFormatContext *format, const AVStream *one, const AVStream *other)
{
    if (rank_of(one) != rank_of(other))
        return rank_of(one) > rank_of(other);
    if (track_of(format, one) != track_of(format, other))
        return track_of(format, one) < track_of(format, other);
    return one->index < other->index;
}

// Returns the audio stream to try after the stream `last`, or at first if `last` is null. Returns null if there is none.
static const AVStream *next_audio(const AVFormatContext *format, const AVStream *last)
{
    const AVStream *next = NULL;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        const AVStream *stream = format->streams[i];
        if (stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO && (!last || precedes(format, last, stream)) &&
            (!next || precedes(format, stream, next)))
            next = stream;
    }
    return next;
}

// Selects the audio stream that a media player plays, or the next one if it cannot be decoded. FFmpeg discards all other
// streams. Returns null, or the reason of a refusal.
static const char *open_audio(Source *source)
{
    AVFormatContext *format = source->format;
    const AVStream *stream = next_audio(format, NULL);
    if (!stream)
        return "no-audio";
    for (; stream && !source->decoder; stream = next_audio(format, stream)) {
        source->stream_index = stream->index;
        const char *refusal = open_decoder(source, stream);
        if (refusal)
            return refusal;
    }
    if (!source->decoder)
        return "no-decoder";
    for (unsigned i = 0; i < format->nb_streams; i++)
        if ((int)i != source->stream_index)
            format->streams[i]->discard = AVDISCARD_ALL;
    return NULL;
}

// Selects the track of another microphone (loudest.c) if it is much louder than the selected track. Returns null, or
// the reason of a refusal.
static const char *use_loudest(Source *source)
{
    AVStream **streams = source->format->streams;
    const int loudest = loudest_track(source->format, source->stream_index);
    if (loudest == source->stream_index)
        return NULL;
    streams[source->stream_index]->discard = AVDISCARD_ALL;
    streams[loudest]->discard = AVDISCARD_DEFAULT;
    source->stream_index = loudest;
    avcodec_free_context(&source->decoder);
    const char *refusal = open_decoder(source, streams[loudest]);
    return refusal || source->decoder ? refusal : "no-decoder";
}

// Sets the fields of the source that describe its container and its stream.
static void describe(Source *source)
{
    const AVInputFormat *kind = source->format->iformat;
    const AVStream *stream = source->format->streams[source->stream_index];
    // FFmpeg lists several names for one container, such as `mov,mp4,m4a,3gp,3g2,mj2`. The first name is used.
    const size_t length = strcspn(kind->name, ",");
    const size_t room = sizeof source->container - 1;
    memcpy(source->container, kind->name, length < room ? length : room);
    source->codec = avcodec_get_name(stream->codecpar->codec_id);
    source->clock_restarts = (kind->flags & AVFMT_TS_DISCONT) != 0;
    source->samples_per_tick = (double)stream->time_base.num / stream->time_base.den * SAMPLE_RATE;
    source->origin = origin_of(source);
    source->has_timestamps = !is_listed(without_timestamps, kind->name);
    source->is_chain = strcmp(kind->name, "ogg") == 0;
}

static void source_close(Source *source)
{
    avcodec_free_context(&source->decoder);
    av_frame_free(&source->frame);
    close_format(source);
}

static const char *try_to_open(Source *source, const Order *order, int64_t from, bool has_tables)
{
    *source = (Source){.reached = from, .has_tables = has_tables, .frame = av_frame_alloc()};
    const char *refusal = source->frame ? open_format(source, order, from) : "too-large";
    return refusal ? refusal : open_audio(source);
}

// Opens the media behind the ID3 tag at the beginning of the file. Returns null, or the reason of a refusal.
static const char *open_behind_tag(Source *source, const Order *order)
{
    const int64_t tag_bytes = input_tag_bytes();
    const char *refusal = tag_bytes > 0 ? source_open(source, order, tag_bytes) : "not-media";
    // The offsets in the tables of an MP4 file count from the beginning of the file. Behind a tag, they point to wrong
    // bytes, some of which would be decoded to noise. So the file is refused.
    if (refusal || strcmp(source->container, "mov") != 0)
        return refusal;
    source_close(source);
    return "not-media";
}

// Opens the media that begins at the offset `from` of the file. Returns null, or the reason of a refusal.
const char *source_open(Source *source, const Order *order, int64_t from)
{
    const bool is_mp4 = from == 0 && packets_find();
    const bool has_tables = is_mp4 || (from == 0 && caf_find());
    const bool has_hidden_index = from == 0 && !has_tables && avi_hide_index();
    const char *hidden_for = matroska_hide_parts(from);
    wav_hide_missing_size(from);
    const char *refusal = try_to_open(source, order, from, has_tables);
    input_restore();
    if (!refusal && from == 0)
        refusal = use_loudest(source);
    if (has_tables && (refusal || !(is_mp4 ? packets_select(source->format, source->stream_index)
                                           : caf_select(source->format)))) {
        source_close(source);
        refusal = try_to_open(source, order, from, false);
        if (!refusal)
            refusal = use_loudest(source);
    }
    if (refusal && hidden_for && strcmp(refusal, "no-decoder") == 0)
        refusal = hidden_for;
    if (refusal) {
        source_close(source);
        return from == 0 && strcmp(refusal, "not-media") == 0 ? open_behind_tag(source, order) : refusal;
    }
    describe(source);
    source->drops_index = has_hidden_index || is_flv(source->format);
    return NULL;
}

static void note_damage(Source *source, int result)
{
    if (result == AVERROR(ENOMEM))
        refuse("too-large");
    source->damaged += 1;
    source->lost = true;
}

static int read_packet(const Source *source, AVPacket *packet)
{
    AVStream *stream = source->format->streams[source->stream_index];
    if (source->drops_index)
        ffstream(stream)->nb_index_entries = 0;
    const int result = av_read_frame(source->format, packet);
    // If the end of an FLV file is damaged, FFmpeg reports the end of the file one packet too early. So the read is
    // repeated.
    return result == AVERROR_EOF && is_flv(source->format) ? av_read_frame(source->format, packet) : result;
}

// Returns true if FFmpeg has read packets of the audio stream, and then failed to read an Ogg page that begins the next
// stream of chained Ogg (links.c). The next stream has another codec, so FFmpeg would fail to read each of its pages.
static bool is_at_link(const Source *source)
{
    const int64_t position = avio_tell(source->format->pb);
    const int64_t before = position - OGG_PAGE_BYTES_MAX;
    return source->is_chain && source->has_packets &&
           find_link(before > source->reached ? before : source->reached + 1, position) >= 0;
}

// Reads the next packet of the audio stream. Returns false at the end of the file. In a file of chained Ogg (links.c),
// also returns false at the next stream if FFmpeg cannot continue with this stream.
bool source_read(Source *source, AVPacket *packet)
{
    for (int failed = 0; failed < FAILED_READS_MAX;) {
        av_packet_unref(packet);
        const int result = read_packet(source, packet);
        if (result == AVERROR_EOF)
            return false;
        if (result < 0) {
            failed += 1;
            note_damage(source, result);
            if (failed == 1 && is_at_link(source)) {
                source->is_stuck = true;
                return false;
            }
        } else if (packet->stream_index == source->stream_index) {
            // Without the key, FFmpeg passes the encrypted bytes on, and some codecs decode them to noise.
            if (av_packet_get_side_data(packet, AV_PKT_DATA_ENCRYPTION_INFO, NULL))
                refuse("encrypted");
            if (source->is_chain && packet->pos > source->reached)
                source->reached = packet->pos;
            source->has_packets = true;
            return true;
        }
    }
    // A run of failed reads counts as one damaged position, so all reads of the run except one are subtracted.
    source->damaged -= FAILED_READS_MAX - 1;
    source->is_stuck = true;
    return false;
}

// Replaces the source by the next stream of a file of chained Ogg (links.c), if FFmpeg could not continue with this
// stream. Returns false if there is no next stream, or if FFmpeg has read the file to its end.
bool source_next(Source *source, const Order *order)
{
    if (!source->is_chain || !source->is_stuck)
        return false;
    const int64_t after = source->reached + 1;
    source_close(source);
    for (int64_t from = find_link(after, OFFSET_MAX); from >= 0; from = find_link(from + 1, OFFSET_MAX))
        if (!source_open(source, order, from))
            return true;
    return false;
}

// Returns false for a frame without samples or with an impossible sample rate. At a rate of 1 Hz one frame would
// become hours of samples.
static bool is_sound(const AVFrame *frame)
{
    return frame->nb_samples > 0 && frame->sample_rate >= 1000 && frame->sample_rate <= 1000000;
}

static void feed(Source *source, const AVPacket *packet, UseFrame *use, void *user)
{
    if (packet && fill_pause(source->decoder, packet, source->frame)) {
        use(user, source, source->frame);
        source->lost = false;
        return;
    }
    const int sent = avcodec_send_packet(source->decoder, packet);
    if (sent < 0)
        note_damage(source, sent);
    for (int failed = 0; failed < FAILED_READS_MAX;) {
        const int result = avcodec_receive_frame(source->decoder, source->frame);
        if (result == AVERROR(EAGAIN) || result == AVERROR_EOF)
            return;
        if (result < 0 || !is_sound(source->frame)) {
            failed += 1;
            note_damage(source, result);
        } else {
            use(user, source, source->frame);
            source->lost = false;
        }
    }
}

// Decodes a packet and passes its frames to `use`. A frame is valid only until `use` returns.
void source_decode(Source *source, const AVPacket *packet, UseFrame *use, void *user)
{
    // An empty packet is skipped, because the decoder would treat it as the end of the stream.
    if (packet->size > 0)
        feed(source, packet, use, user);
}

// Ends a sequence of packets, and passes the frames that remain in the decoder to `use`. Another sequence may follow.
void source_drain(Source *source, UseFrame *use, void *user)
{
    feed(source, NULL, use, user);
    avcodec_flush_buffers(source->decoder);
    // After a flush, some decoders return no frame for the first packet. So the place of the next frame depends on its
    // timestamp alone.
    source->lost = true;
}

static Span span_at(const Source *source, int64_t ticks, double length)
{
    const bool has_start = source->has_timestamps && ticks != AV_NOPTS_VALUE;
    return (Span){has_start, has_start ? (double)ticks * source->samples_per_tick - source->origin : 0, length};
}

// Returns the start and the length of a packet, counted from the time that a player shows as 0:00.
Span source_packet_span(const Source *source, const AVPacket *packet)
{
    return span_at(source, packet->pts, (double)packet->duration * source->samples_per_tick);
}

Span source_frame_span(const Source *source, const AVFrame *frame)
{
    return span_at(source, frame->best_effort_timestamp, (double)frame->nb_samples * SAMPLE_RATE / frame->sample_rate);
}
