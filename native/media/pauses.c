// The pauses of AMR: frames in which a phone sends the noise of a silent room, or nothing. FFmpeg cannot decode them,
// and a plain AMR file has no timestamps that show their length. So silence replaces them here.

#include "media.h"
#include <libavutil/samplefmt.h>

// The kinds of frames that are pauses (3GPP TS 26.101 and 26.201).
enum { NOISE = 8, NOISE_WIDE = 9, LOST_WIDE = 14, NOTHING = 15 };
// The maximum size of a frame that is a pause. A larger packet that begins with a pause contains several frames.
enum { FRAME_BYTES_MAX = 6, FRAMES_PER_SECOND = 50 };

static bool is_pause(enum AVCodecID codec, const AVPacket *packet)
{
    if (packet->size < 1 || packet->size > FRAME_BYTES_MAX)
        return false;
    const int kind = packet->data[0] >> 3 & 15;
    return (codec == AV_CODEC_ID_AMR_NB && (kind == NOISE || kind == NOTHING)) ||
           (codec == AV_CODEC_ID_AMR_WB && (kind == NOISE_WIDE || kind == LOST_WIDE || kind == NOTHING));
}

// Fills the frame with silence if the packet is a pause. Returns false for any other packet.
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
