// Mixes two channels to one channel. Two channels of opposite phase would cancel each other in the mix. In this case
// the output is one of the two channels.

#include "media.h"
#include <math.h>

// The channels cancel each other if the energy of the mix is less than this part of the energy of the louder channel: a
// loss of 13 dB. The mix of two unrelated channels loses only 3 dB.
static const double cancelled = 0.05;
// The energies of the two channels and of the mix are moving averages over about this many samples.
static const double memory = SAMPLE_RATE / 2;

// Mixes `count` pairs of a left and a right sample. The mixed samples replace the first half of `samples`.
void mix_pair(Mixer *mixer, float *samples, int64_t count)
{
    double left = 0, right = 0, mix = 0;
    for (int64_t at = 0; at < count; at++) {
        const double one = samples[2 * at], other = samples[2 * at + 1];
        left += one * one;
        right += other * other;
        mix += (one + other) / 2 * ((one + other) / 2);
    }
    const double kept = exp(-(double)count / memory);
    mixer->left = mixer->left * kept + left;
    mixer->right = mixer->right * kept + right;
    mixer->mix = mixer->mix * kept + mix;
    const int louder = mixer->right > 4 * mixer->left ? 1 : 0;
    const bool cancels = mixer->mix < cancelled * fmax(mixer->left, mixer->right);
    for (int64_t at = 0; at < count; at++)
        samples[at] = cancels ? samples[2 * at + louder]
                              : (float)(((double)samples[2 * at] + (double)samples[2 * at + 1]) / 2);
}
