// The parts of the media program. The program reads one media file from stdin, and writes messages to stdout. The
// server (src/media/spawn.ts) starts one process for each file.
//
// The comments of this folder use the words of FFmpeg:
// - container: the format of a file, for example MP4, Matroska or Ogg.
// - stream or track: the sound, the pictures or the subtitles in a container. A file can have several.
// - packet: a piece of a stream as it is stored in the file. It is decoded as a whole.
// - frame: a piece of decoded sound. Most packets are decoded to one frame each, and some packets to several frames.
// - sample: one number of the sound wave. At 16 kHz, one second has 16,000 samples.
// - timestamp: the time at which a packet or a frame starts. It is counted in ticks, and the container defines a tick.
// - priming and padding: samples that an encoder adds at the beginning and at the end. They are not part of the
//   recording, so they are dropped after decoding.
// - index: the list of all packets with their positions in the file.
// - offset: a position in the file, in bytes.

#ifndef STENO_MEDIA_H
#define STENO_MEDIA_H

#include "confine.h"
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of the arguments and the messages of this program (src/media/wire.ts). The server refuses to use a
// program with another version, because the server could not read the messages of that program.
#define PROTOCOL_VERSION 1
// The sample rate of the output, in Hz.
#define SAMPLE_RATE 16000

// The order of the server, read from the arguments of the program (main.c): what to do with the file, and which limits
// apply.
typedef struct Order {
    bool inspects;
    Confinement limits;
    // The maximum length of the audio, in samples at the output rate.
    int64_t samples_max;
    int64_t probe_bytes;
    int64_t damaged_packets_max;
    int64_t alive_every_ms;
    // The number of the audio channel to decode; the first channel is 1. The number 0 means the mix of all channels.
    int64_t channel;
} Order;

// output.c: the functions that send messages to the server through stdout.
enum { BODY_BYTES_MAX = 64 * 1024 };
typedef struct Output {
    // The number of samples that were passed to this output. Some of them are still in `waiting` and are not sent yet.
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

// input.c and read-at.c define the functions below that begin with `input_`. They read the media file from stdin.

// The maximum byte position to which FFmpeg can seek: 8 TB. A damaged file can contain an impossible position, far
// behind the end of any usual file. input.c refuses a seek to such a position, and the read position does not change.
#define OFFSET_MAX ((int64_t)1 << 43)
AVIOContext *input_open(void);
void input_close(AVIOContext *io);
void input_replace(int64_t at, uint32_t value);
void input_restore(void);
void input_end_at(int64_t at);
int input_read_at(int64_t at, uint8_t *bytes, int length);
int64_t input_size(void);
int64_t input_tag_bytes(void);

// edits.c and links.c find facts that FFmpeg does not report: what the edit lists of an MP4 file do, and where the next
// stream of an Ogg file begins.

// An edit list of an MP4 file tells which part of a track is played. To apply edit lists in full, FFmpeg builds its
// index of all packets twice. This takes much memory if the box `moov`, which lists the packets, has at least this many
// bytes. FFmpeg then applies edit lists in full only if one of them does more than shift or trim its track.
enum { INDEX_BYTES_MIN = 4 * 1024 * 1024 };
bool edits_shift_only(int64_t index_bytes_min);
int64_t find_link(int64_t from, int64_t to);

// boxes.c: finds out why FFmpeg cannot open an MP4 file.
bool is_mp4_without_index(void);

// show.c and packets.c read the packets of a long MP4 file, and caf.c reads those of a long CAF file. FFmpeg would keep
// an index of all these packets in memory.
bool packets_find(void);
bool packets_select(AVFormatContext *format, int stream_index);
bool caf_find(void);
bool caf_select(AVFormatContext *format);

// avi.c and matroska.c hide parts of a file from FFmpeg: parts that it does not need but would keep in memory, and
// tracks that it would decode to noise.
bool avi_hide_index(void);
const char *matroska_hide_parts(int64_t from);

// pauses.c: the pauses between words in the phone codec AMR. FFmpeg cannot decode these packets, so they become
// silence.
bool fill_pause(const AVCodecContext *decoder, const AVPacket *packet, AVFrame *frame);

// wav.c: corrections for WAV files that FFmpeg would refuse or decode to noise.
void wav_hide_missing_size(int64_t from);
void wav_correct_codec(AVFormatContext *format);

// streams.c: finds the audio and video streams in a file.
bool is_flv(const AVFormatContext *format);
int find_streams(AVFormatContext *format);

// loudest.c: some recordings have a track for each microphone. This function chooses the loudest track.
int loudest_track(const AVFormatContext *opened, int chosen);

// A span of sound: the start and the length of a packet or a frame. Both are counted in samples at 16 kHz, with
// fractions. `start` is the time that a media player shows. If the file has no timestamp for this sound, `has_start` is
// false, and `start` is not used.
typedef struct Span {
    bool has_start;
    double start;
    double length;
} Span;

// source.c opens a media file, selects an audio stream, and reads and decodes its packets. origin.c finds the timestamp
// that a media player shows as 0:00.
typedef struct Source {
    AVFormatContext *format;
    AVCodecContext *decoder;
    AVFrame *frame;
    int stream_index;
    double samples_per_tick;
    double origin;
    bool has_timestamps;
    // True if packets.c or caf.c reads the packets of this file. FFmpeg has then opened only the beginning of the file.
    bool has_tables;
    bool is_chain;
    // True if at least one packet of the audio stream has been read.
    bool has_packets;
    // True if this program empties the index of FFmpeg before each read. FFmpeg adds each packet to this index, which
    // is needed only for seeking. For ten hours of sound, the index would take 40 MB.
    bool drops_index;
    // True if the timestamps may jump to another value in the middle of a file of this container. This happens in
    // broadcasts, and in files that consist of several streams one after another.
    bool clock_restarts;
    // True if sound was lost after the last frame, for example in a damaged packet. The next frame then does not follow
    // the last frame directly. Only its timestamp tells at which time it starts.
    bool lost;
    bool is_stuck;
    // The number of damaged packets and failed reads.
    int64_t damaged;
    // The position in the file, in bytes, of the last packet that was read. In an Ogg file with several streams, the
    // search for the next stream begins after this packet (links.c).
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

// timeline.c: decides at which time of the output each span of sound is written.
typedef struct Timeline {
    // The time in the output at which the placed sound ends, in samples at 16 kHz. Sound is placed when its time in the
    // output is decided.
    double position;
    // The rounding error of the additions to `position`. The next addition corrects it.
    double rounding;
    double offset;
    double slipped;
    bool has_begun;
    bool continues;
    bool is_holding;
    Span held;
    bool clock_restarts;
    // The last span with a timestamp, and the number of spans in a row whose timestamps advance too little: see
    // SLOW_SHARE.
    Span last;
    int slow_spans;
    // The number of samples by which sound is placed later than its timestamps say. The cause is slow timestamps (see
    // SLOW_SHARE): the time between two of them is shorter than the sound between them.
    double moved;
} Timeline;
// Normally, the timestamp of a span (a packet or a frame) is later than the previous timestamp by the length of the
// previous span. A timestamp is slow if it is later by less than SLOW_SHARE of this length. SLOW_SHARE is a little more
// than a half, so that timestamps of a clock at half speed are slow even after rounding. One or two slow timestamps in
// a row may be right. The spans then really overlap, and an overlap of more than 0.1 s is cut. SLOW_SPANS_MIN or more
// in a row count as wrong, because a clock that was set back causes them (see `is_slow` in timeline.c). The spans then
// do not really overlap, so no sound is cut.
#define SLOW_SHARE 0.52
enum { SLOW_SPANS_MIN = 3 };
// How a span of sound is added to the output: first `silence` silent samples are written, then the span without its
// first `skip` samples.
typedef struct Placement {
    double silence;
    double skip;
} Placement;
void timeline_continue(Timeline *timeline);
bool timeline_place(Timeline *timeline, Span span, bool is_exact, Placement *placement);
bool timeline_settle(Timeline *timeline, Span next, Placement *placement);

// resample.c: converts decoded sound of any sample rate, format and number of channels to one channel of floats at 16
// kHz.

// The maximum number of channels that FFmpeg can mix.
enum { CHANNELS_MAX = 64 };
typedef struct Resampler Resampler;
Resampler *resampler_open(Output *output, int64_t channel);
bool resampler_convert(Resampler *resampler, AVFrame *frame, double skip);
void resampler_flush(Resampler *resampler);

// mix.c: mixes the left and the right channel to one channel.
typedef struct Mixer {
    double left, right, mix;
} Mixer;
void mix_pair(Mixer *mixer, float *samples, int64_t count);

// inspect.c and decode.c: the two operations of this program. `inspect` measures the file, and `decode` writes its
// sound.
_Noreturn void inspect_source(Source *source, const Order *order);
_Noreturn void decode_source(Source *source, const Order *order);

#endif
