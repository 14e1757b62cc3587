// Cameras and recorders write a mono track for each microphone. Some of these tracks are silent, because no microphone
// is connected. Finds the loudest of these tracks.

#include "media.h"
#include <string.h>

enum { TRACKS_MAX = 64 };
// The loudness of the tracks is measured until 30 seconds after the first sound. If the first ten minutes have no
// sound, only these ten minutes are measured.
static const double compared_seconds = 30, searched_seconds = 600;
// A frame (some milliseconds of decoded sound) counts as sound if the mean square of its samples is above this number:
// 60 dB below full scale.
static const double audible = 1e-6;
// Ratios of energy. `chosen` is the track that a media player normally plays. Another track replaces `chosen` if the
// other track is 10 times (10 dB) louder. If the file marks only the other track as one that media players do not play,
// the other track must be 10,000 times (40 dB) louder. So such a track is used only if `chosen` is nearly silent.
static const double louder = 10, audible_beside_silence = 10000;

typedef struct Level {
    AVCodecContext *decoder;
    double seconds, energy;
} Level;

static const char *language_of(const AVStream *stream)
{
    const AVDictionaryEntry *entry = av_dict_get(stream->metadata, "language", NULL, 0);
    return entry ? entry->value : "und";
}

static double seconds_of(const AVStream *stream)
{
    return stream->duration == AV_NOPTS_VALUE ? 0 : (double)stream->duration * av_q2d(stream->time_base);
}

// Returns true if two tracks look like two microphones of one recording: both are mono, they have the same codec,
// sample rate and language, and their lengths differ by less than a second.
static bool are_beside(const AVStream *one, const AVStream *other)
{
    const AVCodecParameters *first = one->codecpar, *second = other->codecpar;
    const double difference = seconds_of(one) - seconds_of(other);
    return first->codec_type == second->codec_type && first->codec_id == second->codec_id &&
           first->sample_rate == second->sample_rate && first->ch_layout.nb_channels == 1 &&
           second->ch_layout.nb_channels == 1 && difference < 1 && difference > -1 &&
           strcmp(language_of(one), language_of(other)) == 0 && is_secondary(one) == is_secondary(other);
}

static double square(double sample)
{
    return sample * sample;
}

// Returns the sum of the squares of the samples in a mono frame. In every sample format, the loudest possible sample
// counts as 1.
static double energy_of(const AVFrame *frame)
{
    const uint8_t *data = frame->data[0];
    const enum AVSampleFormat format = av_get_packed_sample_fmt(frame->format);
    double sum = 0;
    for (int i = 0; i < frame->nb_samples; i++)
        switch (format) {
        case AV_SAMPLE_FMT_U8:
            sum += square(((double)data[i] - 128) / 128);
            break;
        case AV_SAMPLE_FMT_S16:
            sum += square(((const int16_t *)data)[i] / 32768.0);
            break;
        case AV_SAMPLE_FMT_S32:
            sum += square(((const int32_t *)data)[i] / 2147483648.0);
            break;
        case AV_SAMPLE_FMT_FLT:
            sum += square(((const float *)data)[i]);
            break;
        case AV_SAMPLE_FMT_DBL:
            sum += square(((const double *)data)[i]);
            break;
        default:
            break;
        }
    return sum;
}

// Decodes a packet and adds the energy of its samples to the level of its track. Returns true if the packet contains
// sound that is loud enough to hear.
static bool add_packet(Level *level, const AVPacket *packet, AVFrame *frame)
{
    bool has_sound = false;
    if (packet->size == 0 || avcodec_send_packet(level->decoder, packet) < 0)
        return false;
    while (avcodec_receive_frame(level->decoder, frame) >= 0) {
        const double energy = energy_of(frame);
        level->energy += energy;
        level->seconds += frame->sample_rate > 0 ? (double)frame->nb_samples / frame->sample_rate : 0;
        has_sound = has_sound || energy > audible * frame->nb_samples;
    }
    return has_sound;
}

static void measure(AVFormatContext *format, Level *levels)
{
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    double end = searched_seconds;
    bool has_sound = false;
    while (packet && frame && av_read_frame(format, packet) >= 0) {
        Level *level = packet->stream_index < TRACKS_MAX ? &levels[packet->stream_index] : NULL;
        if (level && level->decoder && add_packet(level, packet, frame) && !has_sound) {
            has_sound = true;
            end = level->seconds + compared_seconds;
        }
        av_packet_unref(packet);
        if (level && level->seconds > end)
            break;
    }
    av_packet_free(&packet);
    av_frame_free(&frame);
}

static AVCodecContext *decoder_of(const AVStream *stream)
{
    const AVCodec *codec = avcodec_find_decoder(stream->codecpar->codec_id);
    AVCodecContext *decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    if (decoder &&
        (avcodec_parameters_to_context(decoder, stream->codecpar) < 0 || avcodec_open2(decoder, codec, NULL) < 0))
        avcodec_free_context(&decoder);
    return decoder;
}

// Returns the track to transcribe: the loudest track if it is much louder than the track `chosen`, otherwise `chosen`.
static int choose(AVFormatContext *format, const Level *levels, int chosen)
{
    int best = chosen;
    for (int i = 0; i < (int)format->nb_streams && i < TRACKS_MAX; i++) {
        const int default_bits = format->streams[i]->disposition ^ format->streams[chosen]->disposition;
        const double ratio = default_bits & AV_DISPOSITION_DEFAULT ? audible_beside_silence : louder;
        if (levels[i].decoder && levels[i].energy > levels[best].energy &&
            levels[i].energy > ratio * levels[chosen].energy)
            best = i;
    }
    return best;
}

// Compares the loudness of the track `chosen` and of the other microphones of the recording. Returns the track to
// transcribe. During the comparison, FFmpeg discards the packets of all streams that are not compared.
static int compare(AVFormatContext *format, int chosen)
{
    static Level levels[TRACKS_MAX];
    const AVStream *first = format->streams[chosen];
    for (int i = 0; i < (int)format->nb_streams; i++) {
        AVStream *stream = format->streams[i];
        if (i < TRACKS_MAX && are_beside(first, stream))
            levels[i].decoder = decoder_of(stream);
        if (i >= TRACKS_MAX || !levels[i].decoder)
            stream->discard = AVDISCARD_ALL;
    }
    measure(format, levels);
    const int best = choose(format, levels, chosen);
    for (int i = 0; i < TRACKS_MAX; i++)
        avcodec_free_context(&levels[i].decoder);
    return best;
}

// Returns true if the file has other tracks beside the track `chosen` that look like microphones, and if the file is an
// MP4 or MXF file. Cameras and recorders use these formats.
static bool has_microphones(const AVFormatContext *format, int chosen)
{
    int count = 0;
    for (int i = 0; i < (int)format->nb_streams && i < TRACKS_MAX; i++)
        count += are_beside(format->streams[chosen], format->streams[i]);
    const char *name = format->iformat->name;
    return chosen < TRACKS_MAX && count > 1 && (strncmp(name, "mov,", 4) == 0 || strcmp(name, "mxf") == 0);
}

// Returns the index of the track to transcribe: the track `chosen`, or the track of another microphone that is much
// louder. Opens the file a second time if the recording has several microphones.
int loudest_track(const AVFormatContext *opened, int chosen)
{
    if (!has_microphones(opened, chosen))
        return chosen;
    AVFormatContext *format = avformat_alloc_context();
    AVIOContext *io = input_open();
    if (!format || !io)
        refuse("too-large");
    format->pb = io;
    if (avformat_open_input(&format, NULL, NULL, NULL) >= 0) {
        if (find_streams(format) >= 0 && format->nb_streams == opened->nb_streams)
            chosen = compare(format, chosen);
        avformat_close_input(&format);
    }
    input_close(io);
    return chosen;
}
