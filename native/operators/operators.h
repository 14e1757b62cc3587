// The operations of the speech model Whisper that this library computes on x86 CPUs with AVX2. All products are
// products of integers of at most 16 bits, and their sums of 32 bits are exact. The words of this folder:
// - frame: the model's numbers for 20 ms of sound.
// - head: attention is computed in several heads. Each head uses 64 numbers (channels) of each frame or token.
// - query, key, value: attention compares the query of a frame or token with the keys of all frames. The result for a
//   key is the score of its frame.
// - share: the softmax turns the scores into shares, whose sum is 1. The output is the sum of all values, each
//   multiplied by the share of its frame.
// - quantise: to multiply floats by a factor and round them to integers. The inverse of this factor (1 divided by the
//   factor) turns the integers back into floats.
// - scale: the inverse of the factor with which the caller has quantised weights, keys or values.

#pragma once

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The functions that use AVX2 have this attribute, so that the other functions of the library run on every x86 CPU.
#define AVX2 __attribute__((target("avx2,fma")))
#define INLINED static inline __attribute__((always_inline)) AVX2

// A tile is a small part of the result of a matrix product: 6 rows of 16 columns. Its sums stay in the registers of the
// CPU until they are complete, so they need not be loaded and stored for each product.
enum { TILE_ROWS = 6, TILE_COLUMNS = 16 };
// HEAD_SIZE is the number of channels in a head of the attention. With up to FRAMES_MAX frames, each sum of the
// attention fits into 32 bits. The memory of each task begins at a multiple of CACHE_LINE bytes.
enum { HEAD_SIZE = 64, FRAMES_MAX = 1536, CACHE_LINE = 64 };

// Rounds a number of bytes up to whole cache lines.
static inline size_t whole_lines(size_t bytes)
{
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

// Multiplies rows of floats by a matrix of 8-bit weights. The column of output n has its first weight at weights[n],
// and the next weight `stride` numbers later. The comment of each array gives its dimensions.
typedef struct {
    size_t rows, inputs, outputs;
    size_t stride;         // the number of weights from one row of the matrix to the next
    const float *input;    // [rows][inputs]
    const int8_t *weights; // [inputs][stride]
    const float *scales;   // [outputs]
    const float *biases;   // [outputs]
    const float *added;    // [rows][outputs], or null
    bool with_gelu;
    float *output; // [rows][outputs]
} Linear;

size_t linear_step(size_t rows, size_t threads);
size_t linear_scratch(const Linear *linear, size_t rows);
void linear_rows(const Linear *linear, size_t from, size_t to, void *scratch);

// The self-attention of the encoder: each frame (20 ms of sound) is compared with all frames.
typedef struct {
    size_t frames, heads;
    const float *parts; // [frames][3][heads][HEAD_SIZE]: queries, keys and values
    const float *mass;  // [frames]: the number that is added to the scores of each frame
    float *output;      // [frames][heads][HEAD_SIZE]
} Attention;

size_t attention_scratch(const Attention *attention);
void attention_head(const Attention *attention, size_t head, void *scratch);

// The cross-attention of the decoder: each token of the text is compared with all frames (20 ms of sound each).
typedef struct {
    size_t rows, heads, frames, tokens;
    const float *queries;      // [rows][tokens][heads][HEAD_SIZE]
    const uint8_t *keys;       // [rows][heads][frames][HEAD_SIZE]
    const float *key_scales;   // [rows][heads][HEAD_SIZE]
    const int8_t *values;      // has the same dimensions as `keys`
    const float *value_scales; // has the same dimensions as `key_scales`
    const float *mass;         // [rows][frames]: the number that is added to the scores of each frame
    float *output;             // has the same dimensions as `queries`
    float *shares;             // [rows][heads][tokens][frames], or null
} Cross;

size_t cross_scratch(const Cross *cross);
void cross_head(const Cross *cross, size_t index, void *scratch);
