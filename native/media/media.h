// The parts of the media program. The program reads one media file from stdin, and writes messages to stdout. The
// server (src/media/spawn.ts) starts one process for each file.

#ifndef STENO_MEDIA_H
#define STENO_MEDIA_H

#include "confine.h"
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of the arguments and of the messages (src/media/wire.ts). The server refuses a program of another
// version.
#define PROTOCOL_VERSION 1
// The sample rate of the output, in Hz.
#define SAMPLE_RATE 16000

// The order that the server gives as arguments. Each field has the name of its argument.
typedef struct Order {
    bool inspects;
    Confinement limits;
    // The maximum length of the audio, in samples at the output rate.
    int64_t samples_max;
    int64_t probe_bytes;
    int64_t damaged_packets_max;
    int64_t alive_every_ms;
    // The number of the channel to decode, counted from 1. 0 decodes the mix of all channels.
    int64_t channel;
} Order;

// output.c: the messages to the server.
enum { BODY_BYTES_MAX = 64 * 1024 };
typedef struct Output {
    // The number of samples so far, including the samples that are not sent yet.
    int64_t written;
    int64_t samples_max;
    int64_t alive_every_ms;
    int64_t sent_at_ms;
    size_t filled;
    float waiting[BODY_BYTES_MAX / sizeof(float)];
} Output;
void send_begin(void);
_Noreturn void send_result(const char *json);
_Noreturn void refuse(const char *reason);
void output_write(Output *output, const float *samples, int64_t count);
void output_silence(Output *output, int64_t count);
void output_keep_alive(Output *output);
void output_flush(Output *output);

// input.c and read-at.c: the file on stdin.

// The maximum offset: 8 TB. A damaged length can cause a seek to a higher offset. This seek fails, and FFmpeg continues
// at its present offset.
#define OFFSET_MAX ((int64_t)1 << 43)
AVIOContext *input_open(void);
void input_close(AVIOContext *io);
void input_replace(int64_t at, uint32_t value);
void input_restore(void);
void input_end_at(int64_t at);
int input_read_at(int64_t at, uint8_t *bytes, int length);
int64_t input_size(void);
int64_t input_tag_bytes(void);

// edits.c and links.c: facts that FFmpeg does not report.

// The minimum size of an MP4 index for which FFmpeg does not apply the edit lists in full. For a smaller index, FFmpeg
// applies them in full, which also trims the last packet.
enum { INDEX_BYTES_MIN = 4 * 1024 * 1024 };
bool edits_shift_only(int64_t index_bytes_min);
int64_t find_link(int64_t from, int64_t to);

// show.c and packets.c: the packets of a long MP4 file. caf.c: the packets of a long CAF file.
bool packets_find(void);
bool packets_select(AVFormatContext *format, int stream_index);
bool caf_find(void);
bool caf_select(AVFormatContext *format);

// avi.c and matroska.c: parts of a file that FFmpeg does not need, or cannot decode.
bool avi_hide_index(void);
const char *matroska_hide_parts(int64_t from);

// pauses.c: frames of AMR that FFmpeg cannot decode.
bool fill_pause(const AVCodecContext *decoder, const AVPacket *packet, AVFrame *frame);

// wav.c: WAV files that FFmpeg reads wrongly.
void wav_hide_missing_size(int64_t from);
void wav_correct_codec(AVFormatContext *format);

// streams.c: the streams of a container.
bool is_flv(const AVFormatContext *format);
int find_streams(AVFormatContext *format);

// loudest.c: the choice among the tracks of several microphones.
int loudest_track(const AVFormatContext *opened, int chosen);

// A span of sound. `start` and `length` are samples at the output rate, with fractions. `start` is the time that a
// player shows; it is invalid if `has_start` is false, because the packet has no timestamp.
typedef struct Span {
    bool has_start;
    double start;
    double length;
} Span;

// source.c and origin.c: an open media file, its selected audio stream, and the decoder.
typedef struct Source {
    AVFormatContext *format;
    AVCodecContext *decoder;
    AVFrame *frame;
    int stream_index;
    double samples_per_tick;
    double origin;
    bool has_timestamps;
    // True if FFmpeg opened only the beginning of the file, and packets.c or caf.c reads the packets.
    bool has_tables;
    bool is_chain;
    // True if a packet of the audio stream has been read.
    bool has_packets;
    // True if FFmpeg adds each packet to an index that only seeking needs. For ten hours, the index would take 40 MB.
    bool drops_index;
    // True if the timestamps of this container may restart in the middle of the file, as they do in broadcasts and
    // chained streams.
    bool clock_restarts;
    // True if data was lost since the last frame. In this case only the timestamp of the next frame gives the place of
    // the next frame on the timeline.
    bool lost;
    bool is_stuck;
    // The number of damaged packets and failed reads.
    int64_t damaged;
    // The offset of the last packet that was read. It is used only for a file of chained Ogg (links.c).
    int64_t reached;
    char container[33];
    const char *codec;
} Source;
typedef void UseFrame(void *user, Source *source, AVFrame *frame);
bool is_secondary(const AVStream *stream);
bool is_listed(const char *names, const char *name);
double origin_of(const Source *source);
const char *source_open(Source *source, const Order *order, int64_t from);
bool source_read(Source *source, AVPacket *packet);
void source_decode(Source *source, const AVPacket *packet, UseFrame *use, void *user);
void source_drain(Source *source, UseFrame *use, void *user);
bool source_next(Source *source, const Order *order);
Span source_packet_span(const Source *source, const AVPacket *packet);
Span source_frame_span(const Source *source, const AVFrame *frame);

// timeline.c: the place of each span on the timeline.
typedef struct Timeline {
    // The end of the sound that is placed so far, in samples.
    double position;
    // The rounding error of `position`.
    double rounding;
    double offset;
    double slipped;
    bool has_begun;
    bool continues;
    bool is_holding;
    Span held;
    bool clock_restarts;
} Timeline;
// `silence` is the number of silent samples to write before a span. `skip` is the number of samples to cut from the
// beginning of the span.
typedef struct Placement {
    double silence;
    double skip;
} Placement;
void timeline_continue(Timeline *timeline);
bool timeline_place(Timeline *timeline, Span span, bool is_exact, Placement *placement);
bool timeline_settle(Timeline *timeline, Span next, Placement *placement);

// resample.c: converts frames of any kind to samples of the output.

// The maximum number of channels that FFmpeg can mix.
enum { CHANNELS_MAX = 64 };
typedef struct Resampler Resampler;
Resampler *resampler_open(Output *output, int64_t channel);
bool resampler_convert(Resampler *resampler, AVFrame *frame, double skip);
void resampler_flush(Resampler *resampler);

// mix.c: mixes two channels to one channel.
typedef struct Mixer {
    double left, right, mix;
} Mixer;
void mix_pair(Mixer *mixer, float *samples, int64_t count);

// inspect.c and decode.c: the operations `inspect` and `decode`.
_Noreturn void inspect_source(Source *source, const Order *order);
_Noreturn void decode_source(Source *source, const Order *order);

#endif
