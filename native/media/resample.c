// Converts decoded frames of any sample rate, sample format and number of channels to one channel of 32-bit floats at
// 16 kHz. The resampler of FFmpeg does this with a filter (`context`), which holds back the last samples of each frame.
// A gain is the factor of a channel in the mix. A channel layout tells for which speaker each channel is meant.

#include "media.h"
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <math.h>
#include <string.h>

// The maximum number of output samples of one frame: about four minutes, at 16,000 samples per second. Real frames are
// much shorter. A frame with more output samples has a wrong sample rate, which is much too low.
enum { FRAME_SAMPLES_MAX = 4000000 };
// Sound with at least this many channels is surround sound: six channels for speakers around the listener (5.1).
enum { SURROUND_CHANNELS_MIN = 6 };

struct Resampler {
    Output *output;
    Mixer mixer;
    struct SwrContext *context;
    AVFrame *out;
    // The number of samples of each channel that fit into `out`.
    int room;
    // The number of the audio channel to convert; the first channel is 1. The number 0 means the mix of all channels.
    int64_t channel;
    // The number of channels after the conversion: two if the input is stereo, otherwise one. Two channels are then
    // mixed by mix.c.
    int channels;
};

Resampler *resampler_open(Output *output, int64_t channel)
{
    Resampler *resampler = av_mallocz(sizeof *resampler);
    if (!resampler || !(resampler->out = av_frame_alloc()))
        refuse("too-large");
    resampler->output = output;
    resampler->channel = channel;
    resampler->channels = 1;
    return resampler;
}

static void use_channels(Resampler *resampler, int channels)
{
    if (channels != resampler->channels)
        resampler->room = 0;
    resampler->channels = channels;
}

static void make_room(Resampler *resampler, int samples)
{
    AVFrame *out = resampler->out;
    if (samples > resampler->room) {
        av_frame_unref(out);
        resampler->room = samples > SAMPLE_RATE ? samples : SAMPLE_RATE;
        out->format = AV_SAMPLE_FMT_FLT;
        out->sample_rate = SAMPLE_RATE;
        av_channel_layout_default(&out->ch_layout, resampler->channels);
        out->nb_samples = resampler->room;
        if (av_frame_get_buffer(out, 0) < 0)
            refuse("too-large");
    }
    // Before a conversion, `nb_samples` must tell FFmpeg how many samples fit into `out`. FFmpeg overwrites
    // `nb_samples` with the number of samples that it wrote. So `nb_samples` is set again before each conversion.
    out->nb_samples = resampler->room;
}

// A channel layout tells for which speaker each channel is meant. If FFmpeg cannot convert a frame with its layout,
// gives the frame another layout. Returns the kind of layout that the frame had before.
static enum AVChannelOrder lay_out(AVFrame *frame)
{
    AVChannelLayout *layout = &frame->ch_layout;
    const enum AVChannelOrder order = layout->order;
    const int channels = layout->nb_channels;
    // FFmpeg would refuse some layouts of two channels, and with other layouts it would drop the second channel. So two
    // channels are always treated as left and right.
    if (channels == 2 && order != AV_CHANNEL_ORDER_AMBISONIC) {
        av_channel_layout_uninit(layout);
        *layout = (AVChannelLayout)AV_CHANNEL_LAYOUT_STEREO;
    } else if (order == AV_CHANNEL_ORDER_UNSPEC && channels >= 1 && channels < CHANNELS_MAX) {
        // FFmpeg cannot convert a frame without a channel layout, for example a frame of a plain WAV file. So the frame
        // gets one.
        const uint64_t mask = channels == 1 ? AV_CH_FRONT_CENTER : ((uint64_t)1 << channels) - 1;
        av_channel_layout_from_mask(layout, mask);
    }
    return order;
}

// A gain is the factor of a channel in the mix. FFmpeg computes the gains from the channel layout. Returns false if
// FFmpeg has no gains for this layout. Also returns false if a channel has the gain 0, because a voice in this channel
// would be missing in the mix. Surround sound is an exception: FFmpeg rightly drops its channel of low frequencies.
static bool has_gains(const AVChannelLayout *layout)
{
    static double gains[CHANNELS_MAX][CHANNELS_MAX];
    const AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
    // FFmpeg has no gains if the layout lacks the front speakers, or one speaker of a left and right pair.
    if (swr_build_matrix2(layout, &mono, M_SQRT1_2, M_SQRT1_2, 0, 1, 1, gains[0], CHANNELS_MAX, AV_MATRIX_ENCODING_NONE,
                          NULL) < 0)
        return false;
    // FFmpeg drops the channel of low frequencies (its gain is 0). This is right for surround sound. With fewer
    // channels, this channel may be a microphone, because some recorders give a microphone this label.
    bool has_all = true;
    for (int i = 0; i < layout->nb_channels; i++)
        has_all = has_all && gains[0][i] > 0;
    return has_all || layout->nb_channels >= SURROUND_CHANNELS_MIN;
}

// Sets the gain (the factor in the mix) of each channel. If all channels are mixed, changes nothing in two cases. The
// first is stereo sound: FFmpeg keeps both channels, and mix.c mixes them later. The second is a channel layout for
// which `has_gains` returns true: FFmpeg's own gains are right for this layout.
static int set_gains(const Resampler *resampler, struct SwrContext *context, const AVFrame *frame,
                     enum AVChannelOrder order)
{
    const int channels = frame->ch_layout.nb_channels;
    const bool mixes = resampler->channel == 0;
    if (mixes && (resampler->channels == 2 || (order == AV_CHANNEL_ORDER_NATIVE && has_gains(&frame->ch_layout))))
        return 0;
    if (channels > CHANNELS_MAX)
        return -1;
    double gains[CHANNELS_MAX];
    for (int i = 0; i < channels; i++)
        // If the server asks for one channel, only this channel gets a gain; a frame without this channel becomes
        // silence. Ambisonic sound describes the sound from all directions: its first channel has all of it, so only
        // this channel is used. If the positions of the channels are not known, they get equal gains.
        gains[i] = !mixes                               ? i == resampler->channel - 1
                   : order == AV_CHANNEL_ORDER_AMBISONIC ? i == 0
                                                         : 1.0 / channels;
    return swr_set_matrix(context, gains, channels);
}

// Opens the resampler of FFmpeg for frames with the sample rate, format and channels of this frame.
// `resampler->context` stays null if FFmpeg cannot convert such a frame.
static void open_context(Resampler *resampler, const AVFrame *frame, enum AVChannelOrder order)
{
    struct SwrContext *context = swr_alloc();
    if (!context)
        refuse("too-large");
    // The mix of several loud channels could exceed full scale. The option `rematrix_maxval` scales the mix down, so
    // that it does not.
    av_opt_set_double(context, "rematrix_maxval", 1, 0);
    const int channels = frame->ch_layout.nb_channels;
    const bool is_pair = channels == 2 && order != AV_CHANNEL_ORDER_AMBISONIC && resampler->channel == 0;
    use_channels(resampler, is_pair ? 2 : 1);
    make_room(resampler, 1);
    if (swr_config_frame(context, resampler->out, frame) >= 0 &&
        set_gains(resampler, context, frame, order) >= 0 && swr_init(context) >= 0)
        resampler->context = context;
    else
        swr_free(&context);
}

static void emit(Resampler *resampler)
{
    float *samples = (float *)resampler->out->data[0];
    int64_t count = resampler->out->nb_samples;
    for (int64_t i = 0; i < count * resampler->channels; i++) {
        const float sample = samples[i];
        // A file of floats may contain any number. One NaN would spread through the whole speech model.
        if (!(sample >= -1 && sample <= 1))
            samples[i] = sample > 1 ? 1 : sample < -1 ? -1 : 0;
    }
    if (resampler->channels == 2)
        mix_pair(&resampler->mixer, samples, count);
    output_write(resampler->output, samples, count);
}

// Converts a frame and writes its samples to the output. The first `skip` samples at 16 kHz are dropped. Returns false
// if the frame cannot be converted.
bool resampler_convert(Resampler *resampler, AVFrame *frame, double skip)
{
    const enum AVChannelOrder order = lay_out(frame);
    if (!resampler->context)
        open_context(resampler, frame, order);
    if (!resampler->context)
        return false;
    if (skip >= 1 && swr_drop_output(resampler->context, (int)floor(skip + 0.5)) < 0)
        return false;
    const int most = swr_get_out_samples(resampler->context, frame->nb_samples);
    if (most < 0 || most > FRAME_SAMPLES_MAX)
        return false;
    make_room(resampler, most);
    int result = swr_convert_frame(resampler->context, resampler->out, frame);
    if (result == AVERROR_INPUT_CHANGED) {
        // The sample rate, format or channel layout of the sound has changed, so a new filter is needed. The old filter
        // still holds samples of the previous frames. They are written to the output first.
        resampler_flush(resampler);
        open_context(resampler, frame, order);
        if (!resampler->context)
            return false;
        result = swr_convert_frame(resampler->context, resampler->out, frame);
    }
    if (result < 0)
        return false;
    emit(resampler);
    return true;
}

// Writes the samples that the filter still holds to the output, and closes the filter. The next frame opens a new
// filter.
void resampler_flush(Resampler *resampler)
{
    if (!resampler->context)
        return;
    const int most = swr_get_out_samples(resampler->context, 0);
    make_room(resampler, most > 0 ? most : 0);
    if (swr_convert_frame(resampler->context, resampler->out, NULL) >= 0)
        emit(resampler);
    swr_free(&resampler->context);
}
