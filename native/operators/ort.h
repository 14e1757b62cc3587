// The part of ONNX Runtime's C API that the operators use. ONNX Runtime passes an array of function pointers. New
// versions only add functions at its end, so the number of a function never changes.

#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct Status Status;
typedef struct Value Value;
typedef struct Shape Shape;
typedef struct Context Context;
typedef struct Info Info;
typedef struct MemoryInfo MemoryInfo;
typedef void (*const *Api)(void);

typedef struct Allocator {
    uint32_t version;
    void *(*allocate)(struct Allocator *, size_t);
    void (*free)(struct Allocator *, void *);
} Allocator;

enum { FLOAT = 1, UINT8 = 2, INT8 = 3 };
enum { IS_REQUIRED = 0, IS_OPTIONAL = 1 };
enum { INVALID_ARGUMENT = 2, RUNTIME_EXCEPTION = 6 };
enum { API_VERSION = 22 };

#define CREATE_STATUS(api) ((Status * (*)(int, const char *))(api)[0])
#define TENSOR_DATA(api) ((Status * (*)(const Value *, void **))(api)[51])
#define DIMENSIONS_COUNT(api) ((Status * (*)(const Shape *, size_t *))(api)[61])
#define DIMENSIONS(api) ((Status * (*)(const Shape *, int64_t *, size_t))(api)[62])
#define TYPE_AND_SHAPE(api) ((Status * (*)(const Value *, Shape **))(api)[65])
#define INTEGER_ATTRIBUTE(api) ((Status * (*)(const Info *, const char *, int64_t *))(api)[86])
#define CONTEXT_INPUT(api) ((Status * (*)(const Context *, size_t, const Value **))(api)[90])
#define CONTEXT_OUTPUT(api) ((Status * (*)(Context *, size_t, const int64_t *, size_t, Value **))(api)[91])
#define RELEASE_SHAPE(api) ((void (*)(Shape *))(api)[99])
#define MEMORY_INFO(api) ((Status * (*)(const Value *, const MemoryInfo **))(api)[194])
#define CONTEXT_ALLOCATOR(api) ((Status * (*)(const Context *, const MemoryInfo *, Allocator **))(api)[253])
#define PARALLEL_FOR(api) ((Status * (*)(const Context *, void (*)(void *, size_t), size_t, size_t, void *))(api)[274])

// The description of an operator (an operation of a model). ONNX Runtime calls the functions in it.
typedef struct Operator {
    uint32_t version;
    void *(*create_kernel)(const struct Operator *, Api, const Info *);
    const char *(*name)(const struct Operator *);
    const char *(*provider)(const struct Operator *);
    int (*input_type)(const struct Operator *, size_t);
    size_t (*input_count)(const struct Operator *);
    int (*output_type)(const struct Operator *, size_t);
    size_t (*output_count)(const struct Operator *);
    void (*compute)(void *, Context *);
    void (*destroy)(void *);
    int (*input_kind)(const struct Operator *, size_t);
    int (*output_kind)(const struct Operator *, size_t);
    int (*input_memory)(const struct Operator *, size_t);
    int (*least_inputs)(const struct Operator *);
    int (*equal_inputs)(const struct Operator *);
    int (*least_outputs)(const struct Operator *);
    int (*equal_outputs)(const struct Operator *);
    Status *(*create)(const struct Operator *, Api, const Info *, void **);
    Status *(*run)(void *, Context *);
    Status *(*infer_shape)(const struct Operator *, void *);
    int (*first_version)(const struct Operator *);
    int (*last_version)(const struct Operator *);
    size_t (*may_share)(int **, int **);
    void (*release_share)(int *, int *);
    size_t (*aliases)(int **, int **);
    void (*release_aliases)(int *, int *);
    // The following fields are only for operators.c. ONNX Runtime does not read them.
    const char *label;
    const char *inputs;  // one letter for each input: f is float, u is uint8, i is int8; a capital letter if optional
    const char *outputs; // one letter for each output, as in `inputs`
    Status *(*run_operator)(Api, const int64_t *attributes, Context *);
    const char *attributes[4]; // the names of the attributes, which are integers; the unused places are null
} Operator;
