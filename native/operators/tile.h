// Products of 16-bit integers, and other operations on vectors. linear.c, attention.c and cross.c use them.

#pragma once

#include "operators.h"

static const float int16_max = 32767;
// The logarithm of e to the base 2.
static const float log2_e = 1.44269504f;

// Multiplies `rows` rows of `left` by 16 columns of `right`, and adds the products to `sums`. Each row of `left` has
// `pairs` pairs of numbers, and the next row begins `stride` numbers later. `right` has the first two numbers of each
// column, then the next two numbers of each column, and so on.
INLINED void multiply_tile(const int16_t *left, size_t stride, const int16_t *right, size_t pairs, int rows,
                          __m256i sums[TILE_ROWS][2])
{
    for (size_t pair = 0; pair < pairs; pair++) {
        const __m256i one = _mm256_load_si256((const __m256i *)(right + 32 * pair));
        const __m256i other = _mm256_load_si256((const __m256i *)(right + 32 * pair + 16));
#pragma clang loop unroll(full)
        for (int row = 0; row < rows; row++) {
            int32_t both;
            __builtin_memcpy(&both, left + row * stride + 2 * pair, sizeof both);
            const __m256i each = _mm256_set1_epi32(both);
            sums[row][0] = _mm256_add_epi32(sums[row][0], _mm256_madd_epi16(each, one));
            sums[row][1] = _mm256_add_epi32(sums[row][1], _mm256_madd_epi16(each, other));
        }
    }
}

INLINED float largest_of(__m256 values)
{
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}

INLINED float sum_of(__m256 values)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}

INLINED __m256 absolute(__m256 values)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), values);
}

// Rounds 16 floats to 16-bit integers.
INLINED __m256i rounded(__m256 one, __m256 other)
{
    const __m256i mixed = _mm256_packs_epi32(_mm256_cvtps_epi32(one), _mm256_cvtps_epi32(other));
    return _mm256_permute4x64_epi64(mixed, 0xD8);
}

// Multiplies `count` floats (a multiple of 16) by one factor and rounds them to integers, so that the largest absolute
// value becomes `limit`. Returns the factor that turns the integers back into the floats.
INLINED float quantise(const float *from, size_t count, float limit, int16_t *to)
{
    __m256 largest = _mm256_setzero_ps();
    for (size_t at = 0; at < count; at += 8)
        largest = _mm256_max_ps(largest, absolute(_mm256_loadu_ps(from + at)));
    const float most = largest_of(largest);
    const float smallest = 1e-30f;
    const __m256 factor = _mm256_set1_ps(limit / (most > smallest ? most : smallest));
    for (size_t at = 0; at < count; at += 16)
        _mm256_storeu_si256((__m256i *)(to + at),
                            rounded(_mm256_mul_ps(_mm256_loadu_ps(from + at), factor),
                                    _mm256_mul_ps(_mm256_loadu_ps(from + at + 8), factor)));
    return (most > smallest ? most : smallest) / limit;
}

// Returns 2 to the power of each of `values`, which must be at most 0. The relative error is below 3e-6. Values below
// -126 count as -126, for which the result is about 1e-38.
INLINED __m256 power_of_two(__m256 values)
{
    const __m256 kept = _mm256_max_ps(values, _mm256_set1_ps(-126));
    const __m256 whole = _mm256_round_ps(kept, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256 rest = _mm256_sub_ps(kept, whole);
    __m256 sum = _mm256_set1_ps(0.00957009f);
    sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(0.05591786f));
    sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(0.24024745f));
    sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(0.69312181f));
    sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(0.99999926f));
    const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(whole), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(sum), exponent));
}
