// Opens a media file with FFmpeg, selects an audio stream, and reads and decodes its packets. FFmpeg reads only from
// stdin, and it has only the containers and codecs in configure.txt. A container is the format of a file, such as MP4.
// A packet is a piece of coded sound, and the decoder turns it into frames of samples.

#include "media.h"
// A private header of FFmpeg. Only it gives access to the index of a stream: the list of its packets, which FFmpeg
// keeps in memory.
#include <libavformat/internal.h>
#include <libavutil/opt.h>
#include <string.h>

// FFmpeg reads at most this much of the file to find its streams: one minute of sound or video, in microseconds.
// Headers at the end of the file are found too, because FFmpeg seeks to them.
static const int64_t probe_microseconds = 60000000;
// After this many failed reads, one after another, the file counts as ended. A single failed read does not end it,
// because the file can be readable again behind a damaged place.
enum { FAILED_READS_MAX = 64 };
enum { OGG_PAGE_BYTES_MAX = 27 + 255 + 255 * 255 };

// Containers that store no timestamps. FFmpeg computes the times of their packets, but these times are wrong after a
// change of the sample rate. So they are not used, and each packet follows the previous one.
static const char without_timestamps[] = " mp3 aac loas ac3 eac3 dts dtshd truehd mlp amr amrnb amrwb gsm ";
// Returns true if the list `names` contains `name`. The list has a space before and after each name.
bool is_listed(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = strstr(names, name); at; at = strstr(at + 1, name))
        if (at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

// Opens the file with FFmpeg and finds its streams. Returns null, or the reason why the file is refused.
static const char *open_format(Source *source, const Order *order, int64_t from)
{
    AVFormatContext *format = avformat_alloc_context();
    AVIOContext *io = input_open();
    if (!format || !io)
        return "too-large";
    format->pb = io;
    format->probesize = order->probe_bytes;
    format->max_analyze_duration = probe_microseconds;
    // FFmpeg need not read video frames to measure the frame rate.
    format->fps_probe_size = 0;
    format->skip_initial_bytes = from;
    // FFmpeg need not estimate the length of the file from the last timestamps: inspect.c measures the exact length
    // later.
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

// Opens the decoder of a stream. Returns null, or the reason why the file is refused. If FFmpeg has no decoder for the
// stream, or the decoder cannot read it, returns null too, and `source->decoder` stays null.
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

// The marks of tracks that are not the main sound: commentary, a description of the pictures for blind people, sound
// without speech, and a track that only completes another track.
static const int secondary_roles =
    AV_DISPOSITION_COMMENT | AV_DISPOSITION_VISUAL_IMPAIRED | AV_DISPOSITION_CLEAN_EFFECTS | AV_DISPOSITION_DEPENDENT;

bool is_secondary(const AVStream *stream)
{
    return (stream->disposition & secondary_roles) != 0;
}

// Returns the rank of an audio stream. A media player plays the stream with the highest rank, unless its user chooses
// another one.
static int rank_of(const AVStream *stream)
{
    const int is_main = !is_secondary(stream);
    const int is_default = (stream->disposition & AV_DISPOSITION_DEFAULT) != 0;
    return 2 * is_main + is_default;
}

// Returns the number of an audio track on a DVD, and 0 for other files. The first track has the lowest number. FFmpeg
// lists the tracks in the order in which their packets occur. If a file was cut out of a film, it can begin with
// packets of any track. So this order cannot be used.
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

// Returns the audio stream with the highest rank. If `last` is not null, returns the stream that follows `last` in the
// order of ranks. Returns null if there is none.
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

// Selects the audio stream that a media player plays. If FFmpeg cannot decode it, selects the next one. FFmpeg then
// skips the packets of all other streams. Returns null, or the reason why the file is refused.
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

// Some recordings have a track for each microphone (loudest.c). If another track is much louder than the selected
// track, selects the louder one. Returns null, or the reason why the file is refused.
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

// Sets the fields that describe the open file: its container, its codec and its timestamps.
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

// Some programs insert an ID3 tag (title and artist) at the beginning of an existing file. Opens the media behind this
// tag. Returns null, or the reason why the file is refused.
static const char *open_behind_tag(Source *source, const Order *order)
{
    const int64_t tag_bytes = input_tag_bytes();
    const char *refusal = tag_bytes > 0 ? source_open(source, order, tag_bytes) : "not-media";
    // An MP4 file contains the byte positions of its packets, counted from the beginning of the file. When a program
    // inserted the ID3 tag there, the packets moved, but the stored positions did not change and are now wrong. Some of
    // the bytes at the wrong positions would be decoded to noise. So the file is refused.
    if (refusal || strcmp(source->container, "mov") != 0)
        return refusal;
    source_close(source);
    return "not-media";
}

// Opens the media that begins at the byte position `from` of the file. Returns null, or the reason why the file is
// refused.
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
        // If the index of an MP4 file is cut off, FFmpeg may still find a part of it, for example the video track but
        // not the audio track. The refusal is then "no-audio", but the real reason is "no-index".
        if (from == 0 && strcmp(refusal, "too-large") != 0 && is_mp4_without_index())
            return "no-index";
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
    // If the end of an FLV file is damaged, FFmpeg reports the end of the file before it has returned the last packet.
    // The second call returns this packet.
    return result == AVERROR_EOF && is_flv(source->format) ? av_read_frame(source->format, packet) : result;
}

// An Ogg file may contain several streams one after another. FFmpeg cannot continue with a stream that has another
// codec, sample rate or number of channels (links.c). Called after a failed read. Returns true if the read failed at
// the beginning of the next stream. Further reads would fail too. So the caller stops, and `source_next` opens the next
// stream.
static bool is_at_link(const Source *source)
{
    const int64_t position = avio_tell(source->format->pb);
    const int64_t before = position - OGG_PAGE_BYTES_MAX;
    return source->is_chain && source->has_packets &&
           find_link(before > source->reached ? before : source->reached + 1, position) >= 0;
}

// Reads the next packet of the audio stream. Returns false at the end of the file. An Ogg file may contain several
// streams one after another (links.c): also returns false where the open stream ends, if FFmpeg cannot read the next
// stream.
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
            // The packet is encrypted, and there is no key. FFmpeg passes the encrypted bytes to the decoder, and some
            // decoders turn them into noise.
            if (av_packet_get_side_data(packet, AV_PKT_DATA_ENCRYPTION_INFO, NULL))
                refuse("encrypted");
            if (source->is_chain && packet->pos > source->reached)
                source->reached = packet->pos;
            source->has_packets = true;
            return true;
        }
    }
    // All these failed reads are caused by one damaged place in the file, so they are counted as one.
    source->damaged -= FAILED_READS_MAX - 1;
    source->is_stuck = true;
    return false;
}

// Opens the next stream of an Ogg file that contains several streams one after another (links.c). To do this, closes
// the file and opens it again at the beginning of this stream. Returns false if there is no next stream that can be
// opened. Does nothing and returns false if the file is not an Ogg file. Does the same if FFmpeg has read the file to
// its end, because then no stream is left.
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

// Returns false for a decoded frame without samples, or with an impossible sample rate. Damaged data can give a rate of
// 1 Hz: one frame would then become hours of sound at 16 kHz.
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

// Decodes a packet and calls `use` with each decoded frame. A frame is valid only until `use` returns.
void source_decode(Source *source, const AVPacket *packet, UseFrame *use, void *user)
{
    // An empty packet is skipped, because the decoder would treat it as the end of the stream.
    if (packet->size > 0)
        feed(source, packet, use, user);
}

// Tells the decoder that no packet follows, and calls `use` with the frames that the decoder still has. After this, the
// decoder can begin with any other packet.
void source_drain(Source *source, UseFrame *use, void *user)
{
    feed(source, NULL, use, user);
    avcodec_flush_buffers(source->decoder);
    // After a flush, some decoders return no frame for the first packet, so its sound is lost. The next frame then does
    // not follow the previous sound, and only its timestamp tells when it starts.
    source->lost = true;
}

static Span span_at(const Source *source, int64_t ticks, double length)
{
    const bool has_start = source->has_timestamps && ticks != AV_NOPTS_VALUE;
    return (Span){has_start, has_start ? (double)ticks * source->samples_per_tick - source->origin : 0, length};
}

// Returns the time at which a packet starts and how long it lasts, both in samples at 16 kHz. The time is counted from
// the moment that a media player shows as 0:00.
Span source_packet_span(const Source *source, const AVPacket *packet)
{
    return span_at(source, packet->pts, (double)packet->duration * source->samples_per_tick);
}

Span source_frame_span(const Source *source, const AVFrame *frame)
{
    return span_at(source, frame->best_effort_timestamp, (double)frame->nb_samples * SAMPLE_RATE / frame->sample_rate);
}
