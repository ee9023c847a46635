/* SPDX-License-Identifier: Apache-2.0 */
/* assay_backend.h: what a shared library exports to be certified. C99, nothing but this header, ABI version 1.
 *
 *   cc -std=c99 -shared -fPIC -o libmine.so mine.c && assay certify --backend ./libmine.so
 *
 * Export the one function declared last. assay loads the library into a process of its own (assay-worker-host): a
 * crash, a hang or a leak is a finding about one case and ends nothing else. Calls come one at a time, from one thread:
 *
 *   describe, then for each request:  load, run for each set of data (two, to show what a session keeps), unload
 *   with run_into: load, for each set run and run_into, unload
 *
 * Everything the host passes is valid until the function that got it returns, a model until unload returns. What is
 * printed goes to a log. native/example.c is a complete library, in C and without dependencies; README.md has the
 * words.
 */
#ifndef ASSAY_BACKEND_H
#define ASSAY_BACKEND_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_BACKEND_ABI 1

/* The answer to a request. Both refusals need a reason, in the words of your runtime: host->because(). */
enum {
  ASSAY_OK = 0,
  ASSAY_REFUSED = 1,    /* the model or the data are turned away: invalid, or not understood */
  ASSAY_UNSUPPORTED = 2 /* nothing is wrong with them, there is just no implementation */
};

/* Dense, row-major, little-endian; data from the host are aligned to 16 bytes. `type` is TensorProto.DataType:
 * 1 f32, 2 u8, 3 i8, 4 u16, 5 i16, 6 i32, 7 i64, 8 string, 9 bool, 10 f16, 11 f64, 12 u32, 13 u64, 16 bf16,
 * 17 f8e4m3fn, 18 f8e4m3fnuz, 19 f8e5m2, 20 f8e5m2fnuz, 21 u4, 22 i4, 23 f4e2m1, 24 f8e8m0, 25 u2, 26 i2, 27 f6e2m3,
 * 28 f6e3m2; 0 stands for an optional tensor that is absent. Elements of less than 8 bits are packed as in raw_data of
 * TensorProto. Strings stand one after the other, of each its length in four bytes, then its bytes. `data` may be NULL
 * where `bytes` is 0. */
typedef struct assay_tensor {
  int32_t type;
  int32_t rank;
  const int64_t* dims;
  const void* data;
  size_t bytes;
} assay_tensor;

/* Where an output goes that is bound beforehand. */
typedef struct assay_buffer {
  int32_t type;
  int32_t rank;
  const int64_t* dims;
  void* data; /* `bytes` of it, aligned to 64; not NULL */
  size_t bytes;
} assay_buffer;

/* What the host does for you. Later versions add members at the end; `size` says how many bytes there are. */
typedef struct assay_host {
  size_t size;
  void* context; /* to be handed back */
  /* Why the answer is no, in UTF-8; copied. */
  void (*because)(void* context, const char* reason);
  /* Output number `output` of the graph, in any order; copied before the call returns. `bytes` has to be what type and
   * dims take: anything else ends the process, which is a finding. A wrong type or shape is judged. */
  void (*emit)(void* context, int32_t output, const assay_tensor* tensor);
} assay_host;

/* "threads" ("1"), "optimization" ("all", "extended", "basic", "none"), and those that describe() declares. */
typedef struct assay_option {
  const char* key;
  const char* value;
} assay_option;

enum { ASSAY_OTHER = 0, ASSAY_INT = 1, ASSAY_FLOAT = 2, ASSAY_STRING = 3, ASSAY_INTS = 4, ASSAY_FLOATS = 5 };

/* An attribute as the node states it; what it leaves out has the default of the standard, and that is yours to know. */
typedef struct assay_attribute {
  const char* name;
  int32_t kind;        /* ASSAY_OTHER: graphs, tensors, strings, which are in the ModelProto only */
  int64_t count;       /* of ints, of floats, of the bytes of text; 1 for a single number */
  const int64_t* ints; /* ASSAY_INT, ASSAY_INTS */
  const float* floats; /* ASSAY_FLOAT, ASSAY_FLOATS */
  const char* text;    /* ASSAY_STRING; a zero byte follows */
} assay_attribute;

/* An input of the node. A constant (an initializer) has data, and graph_input -1. Any other has data NULL and is number
 * `graph_input` of what run() gets; its extents are -1 where they are not declared, its rank is -1 where none is. */
typedef struct assay_operand {
  const char* name; /* in the graph; "" where it is left out */
  int32_t graph_input;
  assay_tensor declared;
} assay_operand;

/* The only node of the graph, for libraries that do not read ONNX. */
typedef struct assay_node {
  size_t size;
  const char* domain; /* "" for ai.onnx */
  const char* op;
  int32_t since_version; /* the version of the operator that `opset` stands for: AveragePool-11 in opset 17 */
  int32_t opset;
  int32_t attribute_count;
  int32_t operand_count;
  int32_t output_count;
  const assay_attribute* attributes;
  const assay_operand* operands;
} assay_node;

typedef struct assay_model {
  size_t size;
  const void* onnx; /* the ModelProto */
  size_t onnx_bytes;
  const assay_option* options;
  int32_t option_count;
  const assay_node* node; /* NULL unless wants_node */
} assay_model;

/* Fill it in by name, as in {.abi = ASSAY_BACKEND_ABI, …}: later versions add members at the end. */
typedef struct assay_backend {
  uint32_t abi;  /* ASSAY_BACKEND_ABI */
  uint32_t size; /* sizeof(assay_backend) */
  /* Not 0: the model comes parsed as well, and what is not a graph of one node is answered "unsupported" for you. */
  int32_t wants_node;

  /* A JSON object: {"backend":"mine","version":"1.2","device":"cpu","capabilities":{"types":["f32"]}}; README.md lists
   * the keys. NULL after because(): the library cannot serve at all. Arguments are those after the library's name. */
  const char* (*describe)(const assay_host* host, int argc, const char* const* argv);

  /* ASSAY_OK, and *session is what run() and unload() get; or one of the refusals, and there will be no unload(). */
  int32_t (*load)(const assay_model* model, void** session, const assay_host* host);

  /* One set of data: the inputs of the graph that are no initializers, in the order of the graph. */
  int32_t (*run)(void* session, const assay_tensor* inputs, int32_t input_count, const assay_host* host);

  void (*unload)(void* session);

  /* What follows may be left out: `size` says how far the table goes. */

  /* Not 0: what run() emits stays as it is until unload() and is read after the last run, so that a buffer that is used
   * again shows. 0: it is copied at once. */
  int32_t keeps_outputs;

  /* Or NULL. As run(), but every output is written into its buffer, and nothing is emitted. Types and extents are those
   * that run() just gave for the same inputs. Around each buffer lie guard bytes: touching one ends the process. */
  int32_t (*run_into)(void* session, const assay_tensor* inputs, int32_t input_count, const assay_buffer* outputs,
                      int32_t output_count, const assay_host* host);
} assay_backend;

/* Four ways to read a node without a loop. */

static inline const char* assay_option_of(const assay_model* model, const char* key, const char* otherwise) {
  for (int32_t i = 0; i < model->option_count; ++i)
    if (strcmp(model->options[i].key, key) == 0) return model->options[i].value;
  return otherwise;
}

/* NULL where the node does not state it. */
static inline const assay_attribute* assay_attribute_of(const assay_node* node, const char* name) {
  for (int32_t i = 0; i < node->attribute_count; ++i)
    if (strcmp(node->attributes[i].name, name) == 0) return &node->attributes[i];
  return NULL;
}

static inline int64_t assay_int_of(const assay_node* node, const char* name, int64_t otherwise) {
  const assay_attribute* attribute = assay_attribute_of(node, name);
  return attribute && attribute->kind == ASSAY_INT ? attribute->ints[0] : otherwise;
}

/* Operand `i` of the node within run(), be it a constant or a graph input; NULL where it is absent. */
static inline const assay_tensor* assay_value_of(const assay_node* node, int32_t i, const assay_tensor* inputs) {
  const assay_operand* operand = i < node->operand_count ? &node->operands[i] : NULL;
  const assay_tensor* value = operand == NULL            ? NULL
                              : operand->graph_input < 0 ? &operand->declared
                                                         : &inputs[operand->graph_input];
  return value && value->type ? value : NULL;
}

#if defined(__GNUC__)
#define ASSAY_EXPORT __attribute__((visibility("default")))
#else
#define ASSAY_EXPORT
#endif

/* The one symbol to export. */
ASSAY_EXPORT const assay_backend* assay_backend_v1(void);

#ifdef __cplusplus
}
#endif

#endif
