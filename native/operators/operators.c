// Describes three operators (kinds of operations in a model) to ONNX Runtime: Linear, Attention and CrossAttention. For
// each call, checks the dimensions of the tensors and starts the computation.

#include "operators.h"
#include "ort.h"
#include <cpuid.h>
#include <stdlib.h>

enum { ATTRIBUTES_MAX = 4, RANK_MAX = 4 };

typedef struct {
    Api api;
    const Operator *operator;
    int64_t attributes[ATTRIBUTES_MAX];
} Kernel;

typedef struct {
    void *data;
    int64_t dims[RANK_MAX];
    size_t rank;
} Tensor;

// Returns from the function if this call to ONNX Runtime has failed.
#define TRY(call)                                                                                                            \
    do {                                                                                                                     \
        Status *status_ = (call);                                                                                            \
        if (status_)                                                                                                         \
            return status_;                                                                                                  \
    } while (0)

static Status *refuse(Api api, const char *why)
{
    return CREATE_STATUS(api)(INVALID_ARGUMENT, why);
}

// Reads the input with the number `index`. If an optional input is missing, its data is null.
static Status *input(Api api, Context *context, size_t index, Tensor *tensor)
{
    const Value *value = NULL;
    *tensor = (Tensor){0};
    TRY(CONTEXT_INPUT(api)(context, index, &value));
    if (!value)
        return NULL;
    Shape *shape = NULL;
    TRY(TYPE_AND_SHAPE(api)(value, &shape));
    Status *status = DIMENSIONS_COUNT(api)(shape, &tensor->rank);
    if (!status && tensor->rank > RANK_MAX)
        status = refuse(api, "a tensor has too many dimensions");
    if (!status)
        status = DIMENSIONS(api)(shape, tensor->dims, tensor->rank);
    RELEASE_SHAPE(api)(shape);
    TRY(status);
    return TENSOR_DATA(api)(value, &tensor->data);
}

static bool has_dims(const Tensor *tensor, const int64_t *dims)
{
    for (size_t index = 0; index < tensor->rank; index++)
        if (tensor->dims[index] != dims[index])
            return false;
    return tensor->rank == RANK_MAX;
}

static int64_t elements(const Tensor *tensor)
{
    int64_t count = 1;
    for (size_t index = 0; index < tensor->rank; index++)
        count *= tensor->dims[index];
    return count;
}

static Status *output(Api api, Context *context, size_t index, const int64_t *dims, size_t rank, void *data)
{
    Value *value = NULL;
    TRY(CONTEXT_OUTPUT(api)(context, index, dims, rank, &value));
    *(void **)data = NULL;
    return value ? TENSOR_DATA(api)(value, data) : NULL;
}

// The memory for one call of an operator. The allocator of ONNX Runtime provides it.
typedef struct {
    Allocator *allocator;
    char *all, *aligned;
} Memory;

static Status *take(Api api, Context *context, size_t bytes, Memory *memory)
{
    const Value *first = NULL;
    const MemoryInfo *info = NULL;
    TRY(CONTEXT_INPUT(api)(context, 0, &first));
    TRY(MEMORY_INFO(api)(first, &info));
    TRY(CONTEXT_ALLOCATOR(api)(context, info, &memory->allocator));
    memory->all = memory->allocator->allocate(memory->allocator, bytes + CACHE_LINE);
    if (!memory->all)
        return CREATE_STATUS(api)(RUNTIME_EXCEPTION, "there is no memory for an operator");
    memory->aligned = (char *)whole_lines((uintptr_t)memory->all);
    return NULL;
}

static void give_back(const Memory *memory)
{
    memory->allocator->free(memory->allocator, memory->all);
}

// Calls `task` with each number below `count`, on the threads of ONNX Runtime. Each call has `bytes` bytes of memory of
// its own. This function allocates the memory of all calls as one area, sets `memory` to its address, and frees it
// after the last call.
static Status *run_tasks(Api api, Context *context, size_t count, size_t bytes, void (*task)(void *, size_t), void *job,
                         char **memory)
{
    Memory taken;
    TRY(take(api, context, count * bytes, &taken));
    *memory = taken.aligned;
    Status *status = NULL;
    if (count == 1)
        task(job, 0);
    else
        status = PARALLEL_FOR(api)(context, task, count, 0, job);
    give_back(&taken);
    return status;
}

typedef struct {
    Linear linear;
    size_t step, bytes;
    char *memory;
} LinearJob;

static void linear_task(void *all, size_t index)
{
    const LinearJob *job = all;
    const size_t from = index * job->step, to = from + job->step;
    const size_t rows = job->linear.rows;
    linear_rows(&job->linear, from, to < rows ? to : rows, job->memory + index * job->bytes);
}

enum { GELU, THREADS, FIRST, OUTPUTS };

// The operator Linear multiplies rows by a matrix of weights. Its inputs are the rows, the weights, their scales, the
// biases, and an optional tensor that is added to the output. The attributes `first` and `outputs` give the first
// column and the number of columns of the weights that are used.
static Status *run_linear(Api api, const int64_t *attributes, Context *context)
{
    enum { ROWS, WEIGHTS, SCALES, BIASES, ADDED, COUNT };
    Tensor tensors[COUNT];
    for (size_t index = 0; index < COUNT; index++)
        TRY(input(api, context, index, &tensors[index]));
    const int64_t *rows = tensors[ROWS].dims, *weights = tensors[WEIGHTS].dims, *added = tensors[ADDED].dims;
    const int64_t first = attributes[FIRST], outputs = attributes[OUTPUTS], dims[2] = {rows[0], outputs};
    if (tensors[ROWS].rank != 2 || tensors[WEIGHTS].rank != 2 || rows[1] != weights[0] || first < 0 || outputs < 1 ||
        first + outputs > weights[1] || tensors[SCALES].dims[0] != weights[1] || tensors[BIASES].dims[0] != weights[1] ||
        weights[0] % TILE_COLUMNS || outputs % TILE_COLUMNS)
        return refuse(api, "Linear: the dimensions do not fit");
    if (tensors[ADDED].data && (added[0] != dims[0] || added[1] != dims[1]))
        return refuse(api, "Linear: the added tensor has other dimensions");
    float *to = NULL;
    TRY(output(api, context, 0, dims, 2, &to));
    if (dims[0] == 0)
        return NULL;
    LinearJob job = {.linear = {.rows = (size_t)rows[0],
                                .inputs = (size_t)rows[1],
                                .outputs = (size_t)outputs,
                                .stride = (size_t)weights[1],
                                .input = tensors[ROWS].data,
                                .weights = (const int8_t *)tensors[WEIGHTS].data + first,
                                .scales = (const float *)tensors[SCALES].data + first,
                                .biases = (const float *)tensors[BIASES].data + first,
                                .added = tensors[ADDED].data,
                                .with_gelu = attributes[GELU] != 0,
                                .output = to}};
    job.step = linear_step(job.linear.rows, (size_t)attributes[THREADS]);
    job.bytes = linear_scratch(&job.linear, job.step);
    const size_t tasks = (job.linear.rows + job.step - 1) / job.step;
    return run_tasks(api, context, tasks, job.bytes, linear_task, &job, &job.memory);
}

typedef struct {
    Attention attention;
    size_t bytes;
    char *memory;
} AttentionJob;

static void attention_task(void *all, size_t index)
{
    const AttentionJob *job = all;
    attention_head(&job->attention, index, job->memory + index * job->bytes);
}

// The operator Attention. The first input has the queries, keys and values of all frames. The second input has a number
// for each frame, which is added to the scores of the key of this frame, before the softmax.
static Status *run_attention(Api api, const int64_t *attributes, Context *context)
{
    (void)attributes;
    Tensor parts, mass;
    TRY(input(api, context, 0, &parts));
    TRY(input(api, context, 1, &mass));
    if (parts.rank != 2 || parts.dims[1] % (3 * HEAD_SIZE) || mass.rank != 1 || mass.dims[0] != parts.dims[0])
        return refuse(api, "Attention: the dimensions do not fit");
    if (parts.dims[0] > FRAMES_MAX)
        return refuse(api, "Attention: there are too many frames");
    const int64_t dims[2] = {parts.dims[0], parts.dims[1] / 3};
    float *to = NULL;
    TRY(output(api, context, 0, dims, 2, &to));
    if (dims[0] == 0)
        return NULL;
    AttentionJob job = {.attention = {.frames = (size_t)dims[0],
                                      .heads = (size_t)dims[1] / HEAD_SIZE,
                                      .parts = parts.data,
                                      .mass = mass.data,
                                      .output = to}};
    job.bytes = attention_scratch(&job.attention);
    return run_tasks(api, context, job.attention.heads, job.bytes, attention_task, &job, &job.memory);
}

typedef struct {
    Cross cross;
    size_t bytes;
    char *memory;
} CrossJob;

static void cross_task(void *all, size_t index)
{
    const CrossJob *job = all;
    cross_head(&job->cross, index, job->memory + index * job->bytes);
}

// The operator CrossAttention. For each token, the score of a frame is the product of the token's query and the frame's
// key. The inputs are the queries, the keys and values of the frames, and a number for each frame, which is added to
// its scores. The keys and values are bytes. Two further inputs have the scales that turn these bytes into floats. The
// softmax turns the scores into shares. The first output is the sum of the values, each multiplied by the share of its
// frame. The second output has the shares.
static Status *run_cross(Api api, const int64_t *attributes, Context *context)
{
    (void)attributes;
    enum { QUERIES, KEYS, KEY_SCALES, VALUES, VALUE_SCALES, MASS, COUNT };
    Tensor tensors[COUNT];
    for (size_t index = 0; index < COUNT; index++)
        TRY(input(api, context, index, &tensors[index]));
    const int64_t *queries = tensors[QUERIES].dims, *keys = tensors[KEYS].dims;
    if (tensors[QUERIES].rank != 3 || tensors[KEYS].rank != 4 || queries[0] != keys[0] ||
        queries[2] != keys[1] * HEAD_SIZE || keys[3] != HEAD_SIZE || !has_dims(&tensors[VALUES], keys) ||
        tensors[MASS].rank != 4 || tensors[MASS].dims[0] != keys[0] || tensors[MASS].dims[3] != keys[2] ||
        elements(&tensors[KEY_SCALES]) != keys[0] * queries[2] || elements(&tensors[VALUE_SCALES]) != keys[0] * queries[2])
        return refuse(api, "CrossAttention: the dimensions do not fit");
    if (keys[2] > FRAMES_MAX)
        return refuse(api, "CrossAttention: there are too many frames");
    const int64_t seen[4] = {keys[0], keys[1], queries[1], keys[2]};
    float *mixed = NULL, *shares = NULL;
    TRY(output(api, context, 0, queries, 3, &mixed));
    TRY(output(api, context, 1, seen, 4, &shares));
    CrossJob job = {.cross = {.rows = (size_t)keys[0],
                              .heads = (size_t)keys[1],
                              .frames = (size_t)keys[2],
                              .tokens = (size_t)queries[1],
                              .queries = tensors[QUERIES].data,
                              .keys = tensors[KEYS].data,
                              .key_scales = tensors[KEY_SCALES].data,
                              .values = tensors[VALUES].data,
                              .value_scales = tensors[VALUE_SCALES].data,
                              .mass = tensors[MASS].data,
                              .output = mixed,
                              .shares = shares}};
    job.bytes = cross_scratch(&job.cross);
    const size_t tasks = job.cross.rows * job.cross.heads;
    if (tasks == 0)
        return NULL;
    return run_tasks(api, context, tasks, job.bytes, cross_task, &job, &job.memory);
}

static Status *create(const Operator *operator, Api api, const Info *info, void **to)
{
    Kernel *kernel = malloc(sizeof *kernel);
    if (!kernel)
        return CREATE_STATUS(api)(RUNTIME_EXCEPTION, "there is no memory for an operator");
    *kernel = (Kernel){.api = api, .operator = operator};
    for (size_t index = 0; index < ATTRIBUTES_MAX && operator->attributes[index]; index++) {
        Status *status = INTEGER_ATTRIBUTE(api)(info, operator->attributes[index], &kernel->attributes[index]);
        if (status) {
            free(kernel);
            return status;
        }
    }
    *to = kernel;
    return NULL;
}

static Status *run(void *all, Context *context)
{
    const Kernel *kernel = all;
    return kernel->operator->run_operator(kernel->api, kernel->attributes, context);
}

static const char *name(const Operator *operator)
{
    return operator->label;
}

static const char *provider(const Operator *operator)
{
    (void)operator;
    return NULL;
}

static size_t length(const char *text)
{
    size_t count = 0;
    while (text[count])
        count++;
    return count;
}

static int type_of(char letter)
{
    switch (letter | 0x20) {
    case 'u':
        return UINT8;
    case 'i':
        return INT8;
    default:
        return FLOAT;
    }
}

static int kind_of(char letter)
{
    return letter & 0x20 ? IS_REQUIRED : IS_OPTIONAL;
}

static int input_type(const Operator *operator, size_t index)
{
    return type_of(operator->inputs[index]);
}

static int input_kind(const Operator *operator, size_t index)
{
    return kind_of(operator->inputs[index]);
}

static size_t input_count(const Operator *operator)
{
    return length(operator->inputs);
}

static int output_type(const Operator *operator, size_t index)
{
    return type_of(operator->outputs[index]);
}

static int output_kind(const Operator *operator, size_t index)
{
    return kind_of(operator->outputs[index]);
}

static size_t output_count(const Operator *operator)
{
    return length(operator->outputs);
}

static int memory_of(const Operator *operator, size_t index)
{
    (void)operator;
    (void)index;
    return 0;
}

#define COMMON                                                                                                               \
    .version = API_VERSION, .name = name, .provider = provider, .input_type = input_type, .input_count = input_count,        \
    .output_type = output_type, .output_count = output_count, .destroy = free, .input_kind = input_kind,                     \
    .output_kind = output_kind, .input_memory = memory_of, .create = create, .run = run

static const Operator operators[] = {
    {COMMON, .label = "Linear", .inputs = "fiffF", .outputs = "f", .run_operator = run_linear,
     .attributes = {"gelu", "threads", "first", "outputs"}},
    {COMMON, .label = "Attention", .inputs = "ff", .outputs = "f", .run_operator = run_attention},
    {COMMON, .label = "CrossAttention", .inputs = "fufiff", .outputs = "fF", .run_operator = run_cross},
};

// Returns true if the CPU has AVX2 and FMA, and if the system saves the registers of AVX.
static bool has_avx2(void)
{
    uint32_t eax, ebx, ecx, edx, saved, high;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_FMA) || !(ecx & bit_OSXSAVE))
        return false;
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    const uint32_t sse_and_avx = 6;
    if ((saved & sse_and_avx) != sse_and_avx)
        return false;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & bit_AVX2);
}

// Returns the operator `index`, or null if there is none. Returns null for each index if this CPU lacks AVX2 or FMA.
__attribute__((visibility("default"))) const Operator *steno_operator(size_t index);

const Operator *steno_operator(size_t index)
{
    if (!has_avx2())
        return NULL;
    return index < sizeof operators / sizeof *operators ? &operators[index] : NULL;
}
