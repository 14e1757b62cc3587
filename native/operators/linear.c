// Multiplies rows of floats by a matrix of 8-bit weights. The floats of each row are multiplied by a factor and rounded
// to integers of up to 16 bits, so every sum of products is exact.

#include "tile.h"

// The weights of 16 outputs at a time are converted from 8 to 16 bits, in parts of this many inputs. A part has 512 ×
// 16 weights and needs 16 KB, which is half of the fastest cache of the CPU.
enum { PART = 512 };
// The largest absolute value of a weight: the 8-bit weights of steno are from -127 to 127, and none is -128.
enum { WEIGHT_MAX = 127 };

// The minimum and the maximum number of rows that one task computes.
enum { LEAST_ROWS = 48, MOST_ROWS = 240 };
// The number of unused integers after each row of integers. Without this gap, the distance between two rows could be a
// power of two. The rows would then share the same places in the CPU cache, and each would evict the other.
enum { ROW_GAP = 32 };

// The memory of a task, which computes some rows of the output. The comment of each array gives its dimensions in
// brackets. A dimension `rows` is the number of rows of the task, rounded up to a multiple of TILE_ROWS.
typedef struct {
    size_t stride;    // the distance from one row of integers to the next, in numbers
    int16_t *rows;    // [rows][stride]: the input, rounded to integers
    float *factors;   // [rows]: the factor of each row from integers to floats
    int32_t *sums;    // [rows][TILE_COLUMNS]
    int16_t *columns; // [PART / 2][TILE_COLUMNS][2]
} Scratch;

static size_t whole_tiles(size_t rows)
{
    return (rows + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
}

static Scratch divided(const Linear *linear, size_t rows, char *memory)
{
    Scratch scratch;
    const size_t count = whole_tiles(rows);
    scratch.stride = linear->inputs + ROW_GAP;
    scratch.columns = (int16_t *)memory;
    memory += PART * TILE_COLUMNS * sizeof(int16_t);
    scratch.sums = (int32_t *)memory;
    memory += count * TILE_COLUMNS * sizeof(int32_t);
    scratch.factors = (float *)memory;
    memory += whole_lines(count * sizeof(float));
    scratch.rows = (int16_t *)memory;
    return scratch;
}

// Returns the number of rows that one task computes. If there are enough rows, each thread gets a task.
size_t linear_step(size_t rows, size_t threads)
{
    const size_t share = whole_tiles((rows + threads - 1) / (threads ? threads : 1));
    return share < LEAST_ROWS ? LEAST_ROWS : share > MOST_ROWS ? MOST_ROWS : share;
}

size_t linear_scratch(const Linear *linear, size_t rows)
{
    const size_t count = whole_tiles(rows);
    return PART * TILE_COLUMNS * sizeof(int16_t) + count * TILE_COLUMNS * sizeof(int32_t) +
           whole_lines(count * sizeof(float)) + whole_lines(count * (linear->inputs + ROW_GAP) * sizeof(int16_t));
}

// Converts the weights of 16 columns from 8 to 16 bits. The result has the first two weights of each column, then the
// next two weights of each column, and so on: one CPU instruction multiplies such pairs and adds the two products.
AVX2 static void widen(const int8_t *weights, size_t stride, size_t pairs, int16_t *to)
{
    for (size_t pair = 0; pair < pairs; pair++) {
        const int8_t *from = weights + 2 * pair * stride;
        const __m128i one = _mm_loadu_si128((const __m128i *)from);
        const __m128i other = _mm_loadu_si128((const __m128i *)(from + stride));
        const __m256i low = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(one, other));
        const __m256i high = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(one, other));
        _mm256_store_si256((__m256i *)(to + 32 * pair), low);
        _mm256_store_si256((__m256i *)(to + 32 * pair + 16), high);
    }
}

// The activation function GELU: x multiplied by the cumulative distribution function of the normal distribution at x.
// From -4 to 4, a polynomial approximates the distribution function. The error of GELU is below 1e-4.
INLINED __m256 gelu(__m256 values)
{
    static const float factors[] = {0.39884749f,    -0.066175334f,   0.0096648426f,  -0.0010481947f,
                                    8.0665884e-05f, -4.1007406e-06f, 1.2170578e-07f, -1.5806964e-09f};
    const __m256 kept = _mm256_min_ps(_mm256_max_ps(values, _mm256_set1_ps(-4)), _mm256_set1_ps(4));
    const __m256 square = _mm256_mul_ps(kept, kept);
    __m256 sum = _mm256_set1_ps(factors[7]);
#pragma clang loop unroll(full)
    for (int at = 6; at >= 0; at--)
        sum = _mm256_fmadd_ps(sum, square, _mm256_set1_ps(factors[at]));
    return _mm256_mul_ps(values, _mm256_fmadd_ps(sum, kept, _mm256_set1_ps(0.5f)));
}

typedef struct {
    const Linear *linear;
    const Scratch *scratch;
    size_t from, rows, column, part, pairs;
} Panel;

// Converts the integer sums of a tile (6 rows of 16 columns) to floats, adds the biases, and writes the results to the
// output.
INLINED void finish(const Panel *panel, size_t tile, __m256i sums[TILE_ROWS][2], bool with_gelu, bool with_added)
{
    const Linear *linear = panel->linear;
    const size_t left = panel->rows - tile, rows = left < TILE_ROWS ? left : TILE_ROWS;
#pragma clang loop unroll(full)
    for (size_t row = 0; row < TILE_ROWS; row++) {
        if (row >= rows)
            continue;
        const __m256 factor = _mm256_set1_ps(panel->scratch->factors[tile + row]);
        const size_t first = (panel->from + tile + row) * linear->outputs + panel->column;
#pragma clang loop unroll(full)
        for (size_t half = 0; half < 2; half++) {
            const size_t column = panel->column + 8 * half, at = first + 8 * half;
            const __m256 scale = _mm256_mul_ps(factor, _mm256_loadu_ps(linear->scales + column));
            const __m256 total = _mm256_cvtepi32_ps(sums[row][half]);
            __m256 value = _mm256_fmadd_ps(total, scale, _mm256_loadu_ps(linear->biases + column));
            if (with_gelu)
                value = gelu(value);
            if (with_added)
                value = _mm256_add_ps(value, _mm256_loadu_ps(linear->added + at));
            _mm256_storeu_ps(linear->output + at, value);
        }
    }
}

// Multiplies all rows of a task by one part of 16 columns of weights. `widen` converts the weights from 8 to 16 bits in
// parts, so that a part fits into the CPU cache. Each call adds the products of its part to `scratch->sums`. After the
// last part, the sums become the output.
INLINED void multiply(const Panel *panel, bool is_last, bool with_gelu, bool with_added)
{
    const Scratch *scratch = panel->scratch;
    for (size_t tile = 0; tile < panel->rows; tile += TILE_ROWS) {
        __m256i *all = (__m256i *)(scratch->sums + tile * TILE_COLUMNS);
        __m256i sums[TILE_ROWS][2];
#pragma clang loop unroll(full)
        for (int at = 0; at < TILE_ROWS; at++) {
            sums[at][0] = panel->part == 0 ? _mm256_setzero_si256() : all[2 * at];
            sums[at][1] = panel->part == 0 ? _mm256_setzero_si256() : all[2 * at + 1];
        }
        multiply_tile(scratch->rows + tile * scratch->stride + panel->part, scratch->stride, scratch->columns,
                      panel->pairs, TILE_ROWS, sums);
        if (is_last) {
            finish(panel, tile, sums, with_gelu, with_added);
            continue;
        }
#pragma clang loop unroll(full)
        for (int at = 0; at < TILE_ROWS; at++) {
            all[2 * at] = sums[at][0];
            all[2 * at + 1] = sums[at][1];
        }
    }
}

AVX2 static void multiply_part(const Panel *panel)
{
    const Linear *linear = panel->linear;
    if (panel->part + 2 * panel->pairs < linear->inputs)
        multiply(panel, false, false, false);
    else if (linear->with_gelu)
        multiply(panel, true, true, false);
    else if (linear->added)
        multiply(panel, true, false, true);
    else
        multiply(panel, true, false, false);
}

// Computes the rows of the output from `from` up to, but not including, `to`.
AVX2 void linear_rows(const Linear *linear, size_t from, size_t to, void *memory)
{
    const size_t rows = to - from, inputs = linear->inputs;
    const Scratch scratch = divided(linear, rows, memory);
    // The largest allowed integer in a row. With it, each sum of products fits into 32 bits. `quantise` multiplies the
    // numbers of a row by a factor and rounds them, so that the largest becomes `limit`.
    const float most = (float)(INT32_MAX / (WEIGHT_MAX * inputs) - 1);
    const float limit = most < int16_max ? most : int16_max;
    for (size_t row = 0; row < rows; row++)
        scratch.factors[row] =
            quantise(linear->input + (from + row) * inputs, inputs, limit, scratch.rows + row * scratch.stride);
    __builtin_memset(scratch.rows + rows * scratch.stride, 0,
                     (whole_tiles(rows) - rows) * scratch.stride * sizeof(int16_t));
    Panel panel = {.linear = linear, .scratch = &scratch, .from = from, .rows = rows};
    for (panel.column = 0; panel.column < linear->outputs; panel.column += TILE_COLUMNS) {
        for (panel.part = 0; panel.part < inputs; panel.part += PART) {
            const size_t left = inputs - panel.part;
            panel.pairs = (left < PART ? left : PART) / 2;
            widen(linear->weights + panel.part * linear->stride + panel.column, linear->stride, panel.pairs,
                  scratch.columns);
            multiply_part(&panel);
        }
    }
}
