// Decodes the audio of a file to samples at 16 kHz. Each decoded frame (some milliseconds of sound) is written at the
// time at which a media player would play it.

#include "media.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// The state of decoding one file.
typedef struct Track {
    Output output;
    Timeline timeline;
    Resampler *resampler;
    // If the timestamp of a frame jumps by more than a second, the frame is held here. The timestamp of the next frame
    // shows whether the jump is real (timeline.c).
    AVFrame *held;
    Span held_span;
    // True if at least one frame was converted to samples of the output.
    bool has_sound;
    // The number of damaged packets, and of frames that could not be converted to 16 kHz. Silence replaces their sound.
    int64_t damaged;
} Track;

static void write_silence_to(Track *track, double position)
{
    resampler_flush(track->resampler);
    output_silence(&track->output, (int64_t)floor(position + 0.5) - track->output.written);
}

static void write_frame(Track *track, AVFrame *frame, double length, Placement placement)
{
    if (placement.silence >= 1)
        write_silence_to(track, track->timeline.position - length);
    if (placement.skip >= length)
        return;
    if (resampler_convert(track->resampler, frame, placement.skip)) {
        track->has_sound = true;
    } else {
        track->damaged += 1;
        write_silence_to(track, track->timeline.position);
    }
}

static void settle(Track *track, Span next)
{
    Placement placement;
    if (timeline_settle(&track->timeline, next, &placement))
        write_frame(track, track->held, track->held_span.length, placement);
}

static void add_frame(void *user, Source *source, AVFrame *frame)
{
    Track *track = user;
    const Span span = source_frame_span(source, frame);
    settle(track, span);
    Placement placement;
    if (timeline_place(&track->timeline, span, source->lost, &placement)) {
        write_frame(track, frame, span.length, placement);
        return;
    }
    av_frame_unref(track->held);
    if (av_frame_ref(track->held, frame) < 0)
        refuse("too-large");
    track->held_span = span;
}

static void decode_link(Track *track, Source *source, AVPacket *packet)
{
    while (source_read(source, packet)) {
        source_decode(source, packet, add_frame, track);
        output_keep_alive(&track->output);
    }
    source_drain(source, add_frame, track);
    // An Ogg file may contain several streams one after another (links.c), and each has its own clock. A frame whose
    // timestamp jumps is held until the next timestamp of the same clock confirms the jump. At the end of a stream, no
    // such timestamp follows. So a held frame is written now, directly after the previous sound. The sound of the next
    // stream follows without a gap too.
    settle(track, (Span){0});
    timeline_continue(&track->timeline);
    track->damaged += source->damaged;
}

void decode_source(Source *source, const Order *order)
{
    static Track track;
    track.output.samples_max = order->samples_max;
    track.output.alive_every_ms = order->alive_every_ms;
    track.timeline.clock_restarts = source->clock_restarts;
    track.resampler = resampler_open(&track.output, order->channel);
    track.held = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    if (!track.held || !packet)
        refuse("too-large");
    do
        decode_link(&track, source, packet);
    while (source_next(source, order));
    if (!track.has_sound)
        refuse("undecodable");
    resampler_flush(track.resampler);
    output_flush(&track.output);
    char json[128];
    snprintf(json, sizeof json, "{\"samples\":%" PRId64 ",\"damaged\":%" PRId64 "}", track.output.written,
             track.damaged);
    send_result(json);
}
