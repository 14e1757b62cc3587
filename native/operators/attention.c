// The self-attention of Whisper's encoder. The query of each frame (20 ms of sound) is multiplied by the keys of all
// frames, which gives a score for each frame. The softmax turns these scores into shares, whose sum is 1. The output is
// the sum of the values of all frames, each multiplied by the share of its frame. Queries, keys, values and shares are
// quantised (multiplied by a factor and rounded) to 16-bit integers, so every sum is exact.

#include "tile.h"

// The largest number in a query or key after its rounding to integers. A sum of 64 products of such numbers fits into
// 32 bits.
static const float query_limit = 5790;
// The shares (the results of the softmax) are multiplied by `whole_share` and rounded to integers. With up to
// `FRAMES_MAX` frames, the sum of the rounded shares is below 33,600. Multiplied by values of up to `value_limit`, it
// fits into 32 bits.
static const float whole_share = 32700;
static const float value_limit = 32000;
static const float never = -1e30f;

// The memory of a task, which computes one head of the attention. The comment of each array gives its dimensions.
typedef struct {
    size_t frames;      // a multiple of TILE_COLUMNS
    int16_t *keys;      // [frames / 16][HEAD_SIZE / 2][16][2]
    int16_t *values;    // [HEAD_SIZE / 16][frames / 2][16][2]
    float *key_factors; // [frames]: the factor of each key from integers to floats
    float *mass;        // [frames]: the number that is added to the scores of each frame
    float *value_factors; // [HEAD_SIZE]: the factor of each channel from integers to floats
    int16_t *queries;   // [TILE_ROWS][HEAD_SIZE]
    float *scores;      // [TILE_ROWS][frames]
    int16_t *shares;    // [TILE_ROWS][frames]
} Scratch;

// Rounds a number of frames up to a multiple of 16, because the scores of 16 frames are computed together.
static size_t whole_tiles(size_t frames)
{
    return (frames + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS;
}

size_t attention_scratch(const Attention *attention)
{
    const size_t frames = whole_tiles(attention->frames);
    return frames * (2 * HEAD_SIZE * sizeof(int16_t) + 2 * sizeof(float)) + HEAD_SIZE * sizeof(float) +
           TILE_ROWS * HEAD_SIZE * sizeof(int16_t) + TILE_ROWS * frames * (sizeof(float) + sizeof(int16_t));
}

static Scratch divided(const Attention *attention, char *memory)
{
    Scratch scratch;
    const size_t frames = scratch.frames = whole_tiles(attention->frames);
    scratch.keys = (int16_t *)memory;
    scratch.values = scratch.keys + frames * HEAD_SIZE;
    scratch.queries = scratch.values + frames * HEAD_SIZE;
    scratch.shares = scratch.queries + TILE_ROWS * HEAD_SIZE;
    scratch.scores = (float *)(scratch.shares + TILE_ROWS * frames);
    scratch.key_factors = scratch.scores + TILE_ROWS * frames;
    scratch.mass = scratch.key_factors + frames;
    scratch.value_factors = scratch.mass + frames;
    return scratch;
}

// Rounds the keys of one head to integers. Each key has its own factor. The integers have the order in which
// `multiply_tile` reads them.
AVX2 static void take_keys(const Attention *attention, const float *keys, size_t stride, Scratch *scratch)
{
    int16_t key[HEAD_SIZE] = {0};
    for (size_t frame = 0; frame < scratch->frames; frame++) {
        const int is_there = frame < attention->frames;
        scratch->mass[frame] = is_there ? log2_e * attention->mass[frame] : never;
        scratch->key_factors[frame] = is_there ? quantise(keys + frame * stride, HEAD_SIZE, query_limit, key) : 0;
        int32_t *to = (int32_t *)(scratch->keys + frame / TILE_COLUMNS * TILE_COLUMNS * HEAD_SIZE);
        for (size_t pair = 0; pair < HEAD_SIZE / 2; pair++)
            __builtin_memcpy(to + pair * TILE_COLUMNS + frame % TILE_COLUMNS, key + 2 * pair, sizeof(int32_t));
    }
}

// Rounds the values of one head to integers. Each channel has its own factor. The integers have the order in which
// `multiply_tile` reads them.
AVX2 static void take_values(const Attention *attention, const float *values, size_t stride, Scratch *scratch)
{
    for (size_t channel = 0; channel < HEAD_SIZE; channel += 8) {
        __m256 most = _mm256_set1_ps(1e-30f);
        for (size_t frame = 0; frame < attention->frames; frame++)
            most = _mm256_max_ps(most, absolute(_mm256_loadu_ps(values + frame * stride + channel)));
        const __m256 limit = _mm256_set1_ps(value_limit);
        _mm256_storeu_ps(scratch->value_factors + channel,
                         _mm256_div_ps(most, _mm256_set1_ps(value_limit * whole_share)));
        const __m256 factor = _mm256_div_ps(limit, most);
        int16_t *to = scratch->values + channel / TILE_COLUMNS * TILE_COLUMNS * scratch->frames + channel % TILE_COLUMNS * 2;
        for (size_t frame = 0; frame < scratch->frames; frame += 2) {
            const __m256 one = frame < attention->frames ? _mm256_loadu_ps(values + frame * stride + channel)
                                                         : _mm256_setzero_ps();
            const __m256 other = frame + 1 < attention->frames
                                     ? _mm256_loadu_ps(values + (frame + 1) * stride + channel)
                                     : _mm256_setzero_ps();
            const __m256i low = _mm256_cvtps_epi32(_mm256_mul_ps(one, factor));
            const __m256i high = _mm256_cvtps_epi32(_mm256_mul_ps(other, factor));
            const __m256i both = _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xAA);
            _mm256_storeu_si256((__m256i *)(to + frame * TILE_COLUMNS), both);
        }
    }
}

// Computes the scores of TILE_ROWS queries for all frames. They are multiplied by the logarithm of e to the base 2, so
// that the softmax can use powers of 2. `largest` gets the largest score of each query.
AVX2 static void score(const Scratch *scratch, const float *query_factors, float *largest)
{
    __m256 most[TILE_ROWS];
    for (int row = 0; row < TILE_ROWS; row++)
        most[row] = _mm256_set1_ps(never);
    for (size_t frame = 0; frame < scratch->frames; frame += TILE_COLUMNS) {
        __m256i sums[TILE_ROWS][2];
#pragma clang loop unroll(full)
        for (int row = 0; row < TILE_ROWS; row++)
            sums[row][0] = sums[row][1] = _mm256_setzero_si256();
        multiply_tile(scratch->queries, HEAD_SIZE, scratch->keys + frame * HEAD_SIZE, HEAD_SIZE / 2, TILE_ROWS, sums);
#pragma clang loop unroll(full)
        for (int row = 0; row < TILE_ROWS; row++) {
            const __m256 factor = _mm256_set1_ps(query_factors[row]);
#pragma clang loop unroll(full)
            for (int half = 0; half < 2; half++) {
                const size_t at = frame + 8 * (size_t)half;
                const __m256 scale = _mm256_mul_ps(factor, _mm256_load_ps(scratch->key_factors + at));
                const __m256 value = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[row][half]), scale,
                                                     _mm256_load_ps(scratch->mass + at));
                most[row] = _mm256_max_ps(most[row], value);
                _mm256_store_ps(scratch->scores + (size_t)row * scratch->frames + at, value);
            }
        }
    }
    for (int row = 0; row < TILE_ROWS; row++)
        largest[row] = largest_of(most[row]);
}

// Softmax: turns the scores of each query into shares, whose sum is 1. The shares are multiplied by `whole_share` and
// rounded to integers.
AVX2 static void share(const Scratch *scratch, const float *largest)
{
    for (size_t row = 0; row < TILE_ROWS; row++) {
        float *scores = scratch->scores + row * scratch->frames;
        const __m256 most = _mm256_set1_ps(largest[row]);
        __m256 sum = _mm256_setzero_ps();
        for (size_t at = 0; at < scratch->frames; at += 8) {
            const __m256 value = power_of_two(_mm256_sub_ps(_mm256_load_ps(scores + at), most));
            sum = _mm256_add_ps(sum, value);
            _mm256_store_ps(scores + at, value);
        }
        const __m256 factor = _mm256_set1_ps(whole_share / sum_of(sum));
        int16_t *to = scratch->shares + row * scratch->frames;
        for (size_t at = 0; at < scratch->frames; at += 16)
            _mm256_store_si256((__m256i *)(to + at), rounded(_mm256_mul_ps(_mm256_load_ps(scores + at), factor),
                                                             _mm256_mul_ps(_mm256_load_ps(scores + at + 8), factor)));
    }
}

// Computes the output: the sum of the values of all frames, each multiplied by the share (the result of the softmax) of
// its frame.
AVX2 static void mix(const Scratch *scratch, size_t rows, float *output, size_t stride)
{
    for (size_t channel = 0; channel < HEAD_SIZE; channel += TILE_COLUMNS) {
        __m256i sums[TILE_ROWS][2];
#pragma clang loop unroll(full)
        for (int row = 0; row < TILE_ROWS; row++)
            sums[row][0] = sums[row][1] = _mm256_setzero_si256();
        multiply_tile(scratch->shares, scratch->frames, scratch->values + channel * scratch->frames,
                      scratch->frames / 2, TILE_ROWS, sums);
        float results[TILE_ROWS][TILE_COLUMNS];
#pragma clang loop unroll(full)
        for (int row = 0; row < TILE_ROWS; row++)
#pragma clang loop unroll(full)
            for (int half = 0; half < 2; half++)
                _mm256_storeu_ps(results[row] + 8 * half,
                                 _mm256_mul_ps(_mm256_cvtepi32_ps(sums[row][half]),
                                               _mm256_loadu_ps(scratch->value_factors + channel + 8 * half)));
        for (size_t row = 0; row < rows; row++)
            __builtin_memcpy(output + row * stride + channel, results[row], sizeof results[row]);
    }
}

// Computes the self-attention of one head, for all frames.
AVX2 void attention_head(const Attention *attention, size_t head, void *memory)
{
    Scratch scratch = divided(attention, memory);
    const size_t width = attention->heads * HEAD_SIZE, stride = 3 * width;
    const float *queries = attention->parts + head * HEAD_SIZE;
    take_keys(attention, queries + width, stride, &scratch);
    take_values(attention, queries + 2 * width, stride, &scratch);
    for (size_t frame = 0; frame < attention->frames; frame += TILE_ROWS) {
        const size_t left = attention->frames - frame, rows = left < TILE_ROWS ? left : TILE_ROWS;
        float factors[TILE_ROWS] = {0}, largest[TILE_ROWS];
        for (size_t row = 0; row < rows; row++)
            factors[row] = 0.125f * log2_e * quantise(queries + (frame + row) * stride, HEAD_SIZE, query_limit,
                                             scratch.queries + row * HEAD_SIZE);
        score(&scratch, factors, largest);
        share(&scratch, largest);
        mix(&scratch, rows, attention->output + frame * width + head * HEAD_SIZE, width);
    }
}
