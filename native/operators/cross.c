// The cross-attention of Whisper's decoder. The query of each token is multiplied by the keys of all frames (20 ms of
// sound each), which gives a score for each frame. The softmax turns these scores into shares, whose sum is 1. The
// output is the sum of the values of all frames, each multiplied by the share of its frame. Keys and values are bytes
// with a scale for each channel. Queries and shares are rounded to 16-bit integers, so every sum is exact.

#include "tile.h"

enum { KEY_ZERO = 128 };
// The largest number in a query after its rounding to integers. A sum of 64 products of such numbers and bytes fits
// into 32 bits.
static const float query_limit = 32767;
// The factor that turns shares into integers. The shares (the results of the softmax) have the sum 1. Each share is
// multiplied by `whole_share` and rounded. The sum of all products of a rounded share and a value (a signed byte) then
// fits into 32 bits. `share` uses a smaller factor if the largest rounded share would not fit into 16 bits.
static const float whole_share = 32767 * 256.0f;
static const float share_max = 32767;
static const float never = -1e30f;

// The scores of this many frames are computed together.
enum { GROUP = 8 };

// Returns the next multiple of 16 that is at least `frames`. The buffers of scores and shares have this length, because
// `share` converts 16 shares (the results of the softmax) to integers at once.
static size_t whole_groups(size_t frames)
{
    return (frames + 2 * GROUP - 1) / (2 * GROUP) * (2 * GROUP);
}

size_t cross_scratch(const Cross *cross)
{
    const size_t frames = whole_groups(cross->frames);
    return whole_lines(frames * (sizeof(float) + sizeof(int16_t)));
}

// Multiplies the 64 numbers of a key by those of the query. Returns 8 sums of 8 products each. The score of the key is
// computed from their total.
INLINED __m256i likeness(const uint8_t *key, const __m256i query[4])
{
    __m256i sum = _mm256_setzero_si256();
#pragma clang loop unroll(full)
    for (int part = 0; part < 4; part++) {
        const __m256i wide = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(key + 16 * part)));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(wide, query[part]));
    }
    return sum;
}

// Adds up the 8 numbers in each of 8 vectors. Returns a vector of the 8 sums.
INLINED __m256i sums_of(const __m256i vectors[GROUP])
{
    const __m256i one = _mm256_hadd_epi32(_mm256_hadd_epi32(vectors[0], vectors[1]),
                                          _mm256_hadd_epi32(vectors[2], vectors[3]));
    const __m256i other = _mm256_hadd_epi32(_mm256_hadd_epi32(vectors[4], vectors[5]),
                                            _mm256_hadd_epi32(vectors[6], vectors[7]));
    return _mm256_add_epi32(_mm256_permute2x128_si256(one, other, 0x20), _mm256_permute2x128_si256(one, other, 0x31));
}

// Computes the scores of one query for all frames, and returns the largest score. The scores are multiplied by the
// logarithm of e to the base 2, so that the softmax can use powers of 2.
AVX2 static float score(const Cross *cross, const uint8_t *keys, const float *mass, const int16_t *query, float factor,
                        float *scores)
{
    __m256i parts[4];
    int32_t zero = 0;
    for (int part = 0; part < 4; part++)
        parts[part] = _mm256_loadu_si256((const __m256i *)(query + 16 * part));
    for (int channel = 0; channel < HEAD_SIZE; channel++)
        zero += KEY_ZERO * query[channel];
    const __m256i zeros = _mm256_set1_epi32(zero);
    const __m256 factors = _mm256_set1_ps(factor);
    __m256 most = _mm256_set1_ps(never);
    size_t frame = 0;
    for (; frame + GROUP <= cross->frames; frame += GROUP) {
        __m256i sums[GROUP];
#pragma clang loop unroll(full)
        for (size_t at = 0; at < GROUP; at++)
            sums[at] = likeness(keys + (frame + at) * HEAD_SIZE, parts);
        const __m256 total = _mm256_cvtepi32_ps(_mm256_sub_epi32(sums_of(sums), zeros));
        const __m256 natural = _mm256_fmadd_ps(total, factors, _mm256_loadu_ps(mass + frame));
        const __m256 value = _mm256_mul_ps(natural, _mm256_set1_ps(log2_e));
        most = _mm256_max_ps(most, value);
        _mm256_store_ps(scores + frame, value);
    }
    float largest = largest_of(most);
    for (; frame < whole_groups(cross->frames); frame++) {
        if (frame >= cross->frames) {
            scores[frame] = never;
            continue;
        }
        int32_t total = -zero;
        for (int channel = 0; channel < HEAD_SIZE; channel++)
            total += keys[frame * HEAD_SIZE + (size_t)channel] * query[channel];
        scores[frame] = ((float)total * factor + mass[frame]) * log2_e;
        largest = scores[frame] > largest ? scores[frame] : largest;
    }
    return largest;
}

// Softmax: replaces the scores by shares, whose sum is 1. Also writes the shares to `rounds` as integers: multiplied by
// one factor and rounded. Returns 1 divided by this factor, which turns the integers back into shares.
AVX2 static float share(size_t frames, float largest, float *scores, int16_t *rounds)
{
    const __m256 most = _mm256_set1_ps(largest);
    __m256 all = _mm256_setzero_ps();
    for (size_t at = 0; at < frames; at += 8) {
        const __m256 value = power_of_two(_mm256_sub_ps(_mm256_load_ps(scores + at), most));
        all = _mm256_add_ps(all, value);
        _mm256_store_ps(scores + at, value);
    }
    const float sum = sum_of(all);
    // The largest score now has the value 2^0 = 1, so the largest share is 1 / sum. `whole` is the factor that turns
    // shares into integers. The largest integer must fit into 16 bits.
    const float whole = whole_share < share_max * sum ? whole_share : share_max * sum;
    const __m256 factor = _mm256_set1_ps(1 / sum), step = _mm256_set1_ps(whole);
    for (size_t at = 0; at < frames; at += 16) {
        const __m256 one = _mm256_mul_ps(_mm256_load_ps(scores + at), factor);
        const __m256 other = _mm256_mul_ps(_mm256_load_ps(scores + at + 8), factor);
        _mm256_store_ps(scores + at, one);
        _mm256_store_ps(scores + at + 8, other);
        _mm256_store_si256((__m256i *)(rounds + at), rounded(_mm256_mul_ps(one, step), _mm256_mul_ps(other, step)));
    }
    return 1 / whole;
}

// Adds up the values of all frames, each multiplied by the share (the result of the softmax) of its frame. The shares
// are rounded to integers. The sums are integers too.
AVX2 static void mix(size_t frames, const int8_t *values, const int16_t *shares, __m256i sums[8])
{
    for (int at = 0; at < 8; at++)
        sums[at] = _mm256_setzero_si256();
    for (size_t frame = 0; frame < frames; frame += 2) {
        const int8_t *one = values + frame * HEAD_SIZE;
        // Two frames are read together. If the number of frames is odd, the last frame has no partner. It is then read
        // twice, and the second share is 0.
        const int8_t *other = frame + 1 < frames ? one + HEAD_SIZE : one;
        int32_t both;
        __builtin_memcpy(&both, shares + frame, sizeof both);
        const __m256i share = _mm256_set1_epi32(both);
#pragma clang loop unroll(full)
        for (int part = 0; part < 4; part++) {
            const __m128i low = _mm_loadu_si128((const __m128i *)(one + 16 * part));
            const __m128i high = _mm_loadu_si128((const __m128i *)(other + 16 * part));
            sums[2 * part] = _mm256_add_epi32(
                sums[2 * part], _mm256_madd_epi16(_mm256_cvtepi8_epi16(_mm_unpacklo_epi8(low, high)), share));
            sums[2 * part + 1] = _mm256_add_epi32(
                sums[2 * part + 1], _mm256_madd_epi16(_mm256_cvtepi8_epi16(_mm_unpackhi_epi8(low, high)), share));
        }
    }
}

// Computes the cross-attention of one head for all tokens of one row. A row is one text of the batch. `index` is row ×
// heads + head.
AVX2 void cross_head(const Cross *cross, size_t index, void *memory)
{
    float *scores = memory;
    int16_t *shares = (int16_t *)(scores + whole_groups(cross->frames));
    const size_t row = index / cross->heads, head = index % cross->heads, width = cross->heads * HEAD_SIZE;
    const float *key_scales = cross->key_scales + index * HEAD_SIZE;
    const float *value_scales = cross->value_scales + index * HEAD_SIZE;
    for (size_t token = 0; token < cross->tokens; token++) {
        const size_t at = (row * cross->tokens + token) * width + head * HEAD_SIZE;
        float balanced[HEAD_SIZE];
        int16_t query[HEAD_SIZE];
        for (size_t channel = 0; channel < HEAD_SIZE; channel++)
            balanced[channel] = cross->queries[at + channel] * key_scales[channel];
        const float factor = 0.125f * quantise(balanced, HEAD_SIZE, query_limit, query);
        const float largest = score(cross, cross->keys + index * cross->frames * HEAD_SIZE,
                                    cross->mass + row * cross->frames, query, factor, scores);
        const float step = share(whole_groups(cross->frames), largest, scores, shares);
        if (cross->shares)
            __builtin_memcpy(cross->shares + (index * cross->tokens + token) * cross->frames, scores,
                             cross->frames * sizeof(float));
        __m256i sums[8];
        mix(cross->frames, cross->values + index * cross->frames * HEAD_SIZE, shares, sums);
        for (size_t part = 0; part < 8; part++) {
            const __m256 scale = _mm256_mul_ps(_mm256_set1_ps(step), _mm256_loadu_ps(value_scales + 8 * part));
            _mm256_storeu_ps(cross->output + at + 8 * part, _mm256_mul_ps(_mm256_cvtepi32_ps(sums[part]), scale));
        }
    }
}
