// The phone codec AMR saves data while nobody speaks: its packets then contain only a description of the background
// noise, or nothing. FFmpeg cannot decode these packets. Without them, later sound would come too early, because a
// plain AMR file has no timestamps. So silence of the same length replaces them.

#include "media.h"
#include <libavutil/samplefmt.h>

// The kinds of AMR frames without speech (3GPP TS 26.101 and 26.201).
enum { NOISE = 8, NOISE_WIDE = 9, LOST_WIDE = 14, NOTHING = 15 };
// An AMR frame without speech has at most this many bytes. A larger packet contains several frames, even if the first
// one is without speech.
enum { FRAME_BYTES_MAX = 6, FRAMES_PER_SECOND = 50 };

static bool is_pause(enum AVCodecID codec, const AVPacket *packet)
{
    if (packet->size < 1 || packet->size > FRAME_BYTES_MAX)
        return false;
    const int kind = packet->data[0] >> 3 & 15;
    return (codec == AV_CODEC_ID_AMR_NB && (kind == NOISE || kind == NOTHING)) ||
           (codec == AV_CODEC_ID_AMR_WB && (kind == NOISE_WIDE || kind == LOST_WIDE || kind == NOTHING));
}

// If the packet is an AMR packet without speech, fills the frame with silence of its length. Returns false for any
// other packet.
bool fill_pause(const AVCodecContext *decoder, const AVPacket *packet, AVFrame *frame)
{
    if (!is_pause(decoder->codec_id, packet))
        return false;
    av_frame_unref(frame);
    frame->format = decoder->sample_fmt;
    frame->sample_rate = decoder->sample_rate;
    frame->nb_samples = decoder->sample_rate / FRAMES_PER_SECOND;
    frame->pts = frame->best_effort_timestamp = packet->pts;
    const int channels = decoder->ch_layout.nb_channels;
    if (av_channel_layout_copy(&frame->ch_layout, &decoder->ch_layout) < 0 || av_frame_get_buffer(frame, 0) < 0 ||
        av_samples_set_silence(frame->extended_data, 0, frame->nb_samples, channels, decoder->sample_fmt) < 0)
        refuse("too-large");
    return true;
}
