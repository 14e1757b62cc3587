// Measures the exact length of the audio in a file, without decoding all of it:
// - The first 30 seconds are decoded, to refuse a file that cannot be played.
// - The last packets are decoded, to find the last sample.
// - Between them, the lengths that the file gives for the packets are added up.
// - If a packet has a wrong length, this packet and all later packets are decoded. The same is done if the timestamps
//   are slow: the time from one packet to the next is much shorter than the sound of the packet.

#include "media.h"
#include <math.h>
#include <stdio.h>

// The first 30 seconds are decoded. Shorter audio is decoded completely.
static const double head_samples = 30 * SAMPLE_RATE;
enum { TAIL_PACKETS = 32 };
// The rounding tolerance, in samples at 16 kHz. It is larger than the rounding error of a sum of lengths, and smaller
// than one sample of the file: at the highest accepted sample rate, 1 MHz, this is 0.016 samples at 16 kHz.
static const double fraction_error = 0.001;
// The maximum overlap of a packet with the next packet: half a second, in samples. If the overlap is longer, the length
// that the file gives for the packet is wrong. With a wrong length, the next timestamp does not fit the end of this
// packet. A difference of more than one second (`leap` in timeline.c) would count as a jump of the timestamps. This
// maximum is lower, so that the wrong length is found first.
static const double overlap_max = 0.5 * SAMPLE_RATE;

// The first second of the audio. Its frames may be too short, because samples that the encoder added are dropped. So
// these frames are left out of the search for the shortest decoded frame (`shortest`).
static const double first_second = SAMPLE_RATE;

// The state of measuring a file. An Ogg file may contain several streams one after another (links.c). They are measured
// one by one, until the total exceeds the maximum length.
typedef struct Meter {
    const Order *order;
    Timeline timeline;
    // The number of frames that were decoded.
    int64_t frames;
    // The length of the shortest frame that was decoded after the first second, in samples at 16 kHz, or 0 if there is
    // none. The frames of the first second are left out, because they may be too short.
    double shortest;
    // The number of packets in a row whose timestamps are slow: the time to the next packet is much shorter than the
    // sound of the packet.
    int slow_packets;
    // The total number of damaged packets in the streams that are measured so far. In each stream, only the first 30
    // seconds count. An Ogg file may contain several streams one after another (links.c).
    int64_t damaged;
    // A ring buffer with the last packets that were read. At the end of the file, they are decoded to find the last
    // sample.
    AVPacket *ring[TAIL_PACKETS];
} Meter;

static void add_span(Meter *meter, const Source *source, Span span)
{
    Placement ignored;
    timeline_settle(&meter->timeline, span, &ignored);
    timeline_place(&meter->timeline, span, source->lost, &ignored);
}

static void add_frame(void *user, Source *source, AVFrame *frame)
{
    Meter *meter = user;
    const Span span = source_frame_span(source, frame);
    meter->frames += 1;
    if (meter->timeline.position > first_second && (meter->shortest == 0 || span.length < meter->shortest))
        meter->shortest = span.length;
    add_span(meter, source, span);
}

// Decodes the first 30 seconds of the audio. Returns false if the audio is shorter.
static bool decode_head(Meter *meter, Source *source)
{
    const double end = meter->timeline.position + head_samples;
    AVPacket *packet = meter->ring[0];
    bool more = source_read(source, packet);
    for (; more && meter->timeline.position < end; more = source_read(source, packet)) {
        source_decode(source, packet, add_frame, meter);
        if (meter->damaged + source->damaged > meter->order->damaged_packets_max)
            refuse("undecodable");
    }
    source_drain(source, add_frame, meter);
    meter->damaged += source->damaged;
    return more;
}

// Returns true if the file gives this packet a wrong length: the packet reaches more than `overlap_max` past the start
// of the next packet. The next packet may have an earlier timestamp, for example because the recorder's clock was set
// back. Both packets then count as starting at the same time. Otherwise the step back would be added to the overlap,
// and a packet with a right length would seem too long.
static bool is_too_long(Span span, Span next)
{
    const double step = next.start > span.start ? next.start - span.start : 0;
    return span.has_start && next.has_start && span.length - step > overlap_max;
}

// Returns true if the timestamps of several packets in a row are slow: the time from one packet to the next is less
// than about half the length of the packet's sound. The file may give such packets a length that is also too short, and
// then slow timestamps would not be noticed. Therefore the sound of a packet counts as at least as long as `shortest`,
// the shortest frame that was decoded after the first second.
static bool are_slow(Meter *meter, Span span, Span next)
{
    const double step = next.start - span.start;
    const double sound = fmax(span.length, meter->shortest);
    const bool is_slow = span.has_start && next.has_start && step < SLOW_SHARE * sound;
    meter->slow_packets = is_slow ? meter->slow_packets + 1 : 0;
    return meter->slow_packets >= SLOW_SPANS_MIN;
}

// Reads the packets and adds up the lengths that the file gives for them, without decoding them. The last packets stay
// in the ring buffer and are not added. They are decoded later, because only their sound gives the exact end. After the
// call, the ring buffer has the packets with the numbers `from` to `to` - 1. Returns true if the packet `from` has a
// wrong length or slow timestamps: this packet and all later packets must then be decoded. Returns false at the end of
// the file, or if the audio is too long.
static bool count_packets(Meter *meter, Source *source, int64_t *from, int64_t *to)
{
    for (; meter->timeline.position <= (double)meter->order->samples_max; *to += 1) {
        AVPacket *packet = meter->ring[*to % TAIL_PACKETS];
        if (*to - *from == TAIL_PACKETS) {
            const Span span = source_packet_span(source, packet);
            const Span next = source_packet_span(source, meter->ring[(*to + 1) % TAIL_PACKETS]);
            if (is_too_long(span, next) || are_slow(meter, span, next))
                return true;
            if (!(packet->flags & AV_PKT_FLAG_DISCARD))
                add_span(meter, source, span);
            *from += 1;
        }
        if (!source_read(source, packet))
            return false;
    }
    return false;
}

// Measures the audio after the first 30 seconds. `count_packets` adds up the lengths that the file gives for the
// packets. The last packets stay in the ring buffer. They are decoded here, because only their sound gives the exact
// end. If `count_packets` finds a wrong length, it stops there, and all later packets are decoded too.
static void measure_rest(Meter *meter, Source *source)
{
    int64_t from = 0, to = 1;
    const bool more = count_packets(meter, source, &from, &to);
    for (; from < to; from++)
        source_decode(source, meter->ring[from % TAIL_PACKETS], add_frame, meter);
    AVPacket *packet = meter->ring[0];
    while (more && meter->timeline.position <= (double)meter->order->samples_max && source_read(source, packet))
        source_decode(source, packet, add_frame, meter);
    source_drain(source, add_frame, meter);
}

static void measure(Meter *meter, Source *source)
{
    Placement ignored;
    if (decode_head(meter, source))
        measure_rest(meter, source);
    timeline_settle(&meter->timeline, (Span){0}, &ignored);
    timeline_continue(&meter->timeline);
}

void inspect_source(Source *source, const Order *order)
{
    static Meter meter;
    meter.order = order;
    meter.timeline.clock_restarts = source->clock_restarts;
    for (int i = 0; i < TAIL_PACKETS; i++)
        if (!(meter.ring[i] = av_packet_alloc()))
            refuse("too-large");
    char container[sizeof source->container];
    snprintf(container, sizeof container, "%s", source->container);
    const char *codec = source->codec;
    int sample_rate = 0, channels = 0;
    do {
        measure(&meter, source);
        if (sample_rate == 0) {
            sample_rate = source->decoder->sample_rate;
            channels = source->decoder->ch_layout.nb_channels;
            if (channels > CHANNELS_MAX)
                refuse("too-many-channels");
        }
    } while (meter.timeline.position <= (double)order->samples_max && source_next(source, order));
    if (meter.frames == 0)
        refuse("undecodable");
    // The duration is rounded down: audio that is one sample shorter than a second must not count as a full second. Above
    // the maximum, it is rounded up: audio that is one sample too long must be refused.
    const double samples = meter.timeline.position;
    const double ms = samples > (double)order->samples_max + fraction_error
                          ? ceil((samples - fraction_error) / SAMPLE_RATE * 1000)
                          : floor((samples + fraction_error) / SAMPLE_RATE * 1000);
    char json[256];
    snprintf(json, sizeof json,
             "{\"container\":\"%s\",\"codec\":\"%s\",\"sampleRate\":%d,\"channels\":%d,\"durationMs\":%.0f}", container,
             codec, sample_rate, channels, ms);
    send_result(json);
}
