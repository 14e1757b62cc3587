// Converts frames of any sample rate, format and number of channels to samples of the output: 32-bit floats at 16 kHz.

#include "media.h"
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <math.h>
#include <string.h>

// The maximum number of output samples of one frame, about four minutes. A frame with more output samples has a wrong
// sample rate.
enum { FRAME_SAMPLES_MAX = 4000000 };
// The minimum number of channels of surround sound, which is made for speakers in a room (5.1).
enum { SURROUND_CHANNELS_MIN = 6 };

struct Resampler {
    Output *output;
    Mixer mixer;
    struct SwrContext *context;
    AVFrame *out;
    // The number of samples of one channel for which `out` has room.
    int room;
    // The number of the channel to convert, counted from 1. 0 converts the mix of all channels.
    int64_t channel;
    // The number of channels of the converted sound: 2 for a stereo input, which Mixer then mixes, otherwise 1.
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
    // A conversion sets nb_samples to the number of samples that it wrote. The next conversion needs the full size
    // again.
    out->nb_samples = resampler->room;
}

// Sets a channel layout with which FFmpeg can convert the frame. Returns the kind of layout that the frame had.
static enum AVChannelOrder lay_out(AVFrame *frame)
{
    AVChannelLayout *layout = &frame->ch_layout;
    const enum AVChannelOrder order = layout->order;
    const int channels = layout->nb_channels;
    // FFmpeg would refuse some layouts of two channels, and would drop the second channel of others. So two channels
    // become a stereo pair, whatever their layout says.
    if (channels == 2 && order != AV_CHANNEL_ORDER_AMBISONIC) {
        av_channel_layout_uninit(layout);
        *layout = (AVChannelLayout)AV_CHANNEL_LAYOUT_STEREO;
    } else if (order == AV_CHANNEL_ORDER_UNSPEC && channels >= 1 && channels < CHANNELS_MAX) {
        // FFmpeg cannot convert a frame without a layout, for example a frame of a plain WAV file.
        const uint64_t mask = channels == 1 ? AV_CH_FRONT_CENTER : ((uint64_t)1 << channels) - 1;
        av_channel_layout_from_mask(layout, mask);
    }
    return order;
}

// Returns true if FFmpeg has gains for this layout, and if no voice is lost in the mix with these gains.
static bool has_gains(const AVChannelLayout *layout)
{
    static double gains[CHANNELS_MAX][CHANNELS_MAX];
    const AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
    // FFmpeg has no gains for a layout without front speakers, or with only one speaker of a pair.
    if (swr_build_matrix2(layout, &mono, M_SQRT1_2, M_SQRT1_2, 0, 1, 1, gains[0], CHANNELS_MAX, AV_MATRIX_ENCODING_NONE,
                          NULL) < 0)
        return false;
    // The gain of FFmpeg for the channel of low frequencies is 0. This is right for surround sound. In sound with fewer
    // channels, this channel may be a microphone: some recorders give a microphone this label.
    bool has_all = true;
    for (int i = 0; i < layout->nb_channels; i++)
        has_all = has_all && gains[0][i] > 0;
    return has_all || layout->nb_channels >= SURROUND_CHANNELS_MIN;
}

// Sets the gain of each channel in the mix, unless the gains of FFmpeg are right.
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
        // A frame without the channel that the caller chose becomes silence. Of ambisonic sound, only the first channel
        // is used, because it is omnidirectional. Channels with unknown positions get equal gains.
        gains[i] = !mixes                               ? i == resampler->channel - 1
                   : order == AV_CHANNEL_ORDER_AMBISONIC ? i == 0
                                                         : 1.0 / channels;
    return swr_set_matrix(context, gains, channels);
}

// Opens the context for frames like this one. `resampler->context` stays null if FFmpeg cannot convert the frame.
static void open_context(Resampler *resampler, const AVFrame *frame, enum AVChannelOrder order)
{
    struct SwrContext *context = swr_alloc();
    if (!context)
        refuse("too-large");
    // The option `rematrix_maxval` scales the mix, so that the mix does not clip when all channels are at full level.
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

// Converts a frame and emits its samples. `skip` is the number of output samples to drop at the beginning. Returns
// false if the frame cannot be converted.
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
        // The sample rate, format or channel layout has changed. The filter still holds samples of the previous frames.
        // These samples are emitted before a new filter is opened.
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

// Emits the samples that remain in the filter. The next frame starts a new filter.
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
