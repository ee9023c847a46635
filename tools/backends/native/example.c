/* SPDX-License-Identifier: Apache-2.0 */
/* A complete library for assay: AveragePool-7 of f32, any number of axes, in C99 without dependencies.
 *
 *   cc -std=c99 -shared -fPIC -I tools/backends -o libexample.so tools/backends/native/example.c
 *   assay certify --backend ./libexample.so --ops AveragePool
 *
 *   Y[n,c,o] = sum over the taps k whose x = o * stride - pad_begin + k lies in X, divided by their number
 *              (with count_include_pad = 1: by the number of all taps)
 */
#include "assay_backend.h"

#include <stdlib.h>

enum { MOST_AXES = 8, F32 = 1 };

typedef struct axis {
  int64_t in, kernel, stride, begin, end, out;
} axis;

/* What load() keeps of the node for run(). */
typedef struct session {
  int axes;
  int include_pad;
  int same; /* 0, 'U' or 'L' for auto_pad = SAME_UPPER, SAME_LOWER; 'V' for VALID */
  axis axis[MOST_AXES];
} session;

static int32_t refuse(const assay_host* host, const char* reason) {
  host->because(host->context, reason);
  return ASSAY_REFUSED;
}

static int32_t lack(const assay_host* host, const char* reason) {
  host->because(host->context, reason);
  return ASSAY_UNSUPPORTED;
}

static const char* describe(const assay_host* host, int argc, const char* const* argv) {
  (void)host, (void)argc, (void)argv;
  return "{\"backend\":\"example\",\"version\":\"1\",\"device\":\"cpu\",\"arithmetic\":{\"accumulator\":\"f32\"},"
         "\"capabilities\":{\"operators\":[\"AveragePool-7\"],\"types\":[\"f32\"]}}";
}

/* Number `i` of an attribute that has to have `count` of them; 0 where one is missing, negative or above 2^24. */
static int number_of(const assay_node* node, const char* name, int64_t count, int64_t i, int64_t otherwise,
                     int64_t* number) {
  const assay_attribute* attribute = assay_attribute_of(node, name);
  *number = otherwise;
  if (!attribute) return 1;
  if (attribute->kind != ASSAY_INTS || attribute->count != count) return 0;
  *number = attribute->ints[i];
  return *number >= 0 && *number <= (1 << 24);
}

static int read_axes(const assay_node* node, session* s) {
  for (int i = 0; i < s->axes; ++i) {
    axis* a = &s->axis[i];
    if (!number_of(node, "kernel_shape", s->axes, i, 0, &a->kernel) || a->kernel < 1) return 0;
    if (!number_of(node, "strides", s->axes, i, 1, &a->stride) || a->stride < 1) return 0;
    if (!number_of(node, "pads", (int64_t)2 * s->axes, i, 0, &a->begin)) return 0;
    if (!number_of(node, "pads", (int64_t)2 * s->axes, s->axes + i, 0, &a->end)) return 0;
  }
  return 1;
}

static int read_auto_pad(const assay_node* node, session* s) {
  static const char* const known[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  const assay_attribute* attribute = assay_attribute_of(node, "auto_pad");
  if (!attribute) return 1;
  if (attribute->kind != ASSAY_STRING) return 0;
  for (int i = 0; i < 4; ++i)
    if (strcmp(attribute->text, known[i]) == 0) {
      s->same = (unsigned char)"\0ULV"[i];
      return s->same == 0 || !assay_attribute_of(node, "pads");
    }
  return 0;
}

static int knows_all_attributes(const assay_node* node) {
  static const char* const known[] = {"auto_pad", "count_include_pad", "kernel_shape", "pads", "strides"};
  for (int32_t i = 0; i < node->attribute_count; ++i) {
    int is_known = 0;
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k)
      is_known = is_known || strcmp(node->attributes[i].name, known[k]) == 0;
    if (!is_known) return 0;
  }
  return 1;
}

static int32_t load(const assay_model* model, void** kept, const assay_host* host) {
  const assay_node* node = model->node;
  if (node->domain[0] || strcmp(node->op, "AveragePool") != 0) return lack(host, "only AveragePool is implemented");
  if (node->since_version != 7) return lack(host, "only AveragePool-7 is implemented");
  if (node->operand_count != 1 || node->output_count != 1) return refuse(host, "AveragePool has one input");
  const assay_tensor* x = &node->operands[0].declared;
  const assay_attribute* kernel = assay_attribute_of(node, "kernel_shape");
  if (x->type != F32) return lack(host, "only f32 is implemented");
  if (!knows_all_attributes(node)) return refuse(host, "AveragePool-7 has no such attribute");
  if (!kernel || kernel->kind != ASSAY_INTS) return refuse(host, "kernel_shape is required");
  if (kernel->count < 1 || kernel->count > MOST_AXES) return lack(host, "1 to 8 axes are implemented");
  session* s = calloc(1, sizeof *s);
  if (!s) abort();
  s->axes = (int)kernel->count;
  s->include_pad = assay_int_of(node, "count_include_pad", 0) != 0;
  if ((x->rank >= 0 && x->rank != s->axes + 2) || !read_axes(node, s) || !read_auto_pad(node, s)) {
    free(s);
    return refuse(host, "an attribute is out of range or does not fit X");
  }
  *kept = s;
  return ASSAY_OK;
}

/* Extents and padding of one axis for an X of `in`; 0 where no window fits. */
static int place(const session* s, axis* a, int64_t in) {
  a->in = in;
  if (s->same == 'U' || s->same == 'L') {
    a->out = (in + a->stride - 1) / a->stride;
    int64_t padding = (a->out - 1) * a->stride + a->kernel - in;
    if (padding < 0) padding = 0;
    a->begin = s->same == 'U' ? padding / 2 : padding - padding / 2;
    return a->out > 0;
  }
  const int64_t room = a->begin + in + a->end - a->kernel;
  a->out = room < 0 ? 0 : room / a->stride + 1;
  return room >= 0;
}

/* The next index of all axes, the last one fastest; 0 after the last. */
static int next(int axes, const axis* a, int64_t* index, int of_taps) {
  for (int i = axes - 1; i >= 0; --i) {
    if (++index[i] < (of_taps ? a[i].kernel : a[i].out)) return 1;
    index[i] = 0;
  }
  return 0;
}

static float average(const session* s, const axis* a, const float* plane, const int64_t* o) {
  int64_t tap[MOST_AXES] = {0};
  int64_t inside = 0, taps = 0;
  float sum = 0;
  do {
    int64_t offset = 0;
    int is_inside = 1;
    for (int i = 0; i < s->axes; ++i) {
      const int64_t x = o[i] * a[i].stride - a[i].begin + tap[i];
      is_inside = is_inside && x >= 0 && x < a[i].in;
      offset = offset * a[i].in + x;
    }
    if (is_inside) sum += plane[offset];
    inside += is_inside;
    ++taps;
  } while (next(s->axes, a, tap, 1));
  return sum / (float)(s->include_pad ? taps : inside);
}

/* Extents of the axes and of Y for these inputs. */
static int32_t measure(const session* s, const assay_tensor* inputs, int32_t input_count, axis* a, int64_t* dims,
                       const assay_host* host) {
  if (input_count != 1) return refuse(host, "a constant X is not implemented");
  const assay_tensor* x = &inputs[0];
  if (x->type != F32 || x->rank != s->axes + 2) return refuse(host, "X is not of the declared type");
  memcpy(a, s->axis, sizeof s->axis);
  for (int i = 0; i < s->axes + 2; ++i) dims[i] = x->dims[i];
  for (int i = 0; i < s->axes; ++i) {
    if (!place(s, &a[i], x->dims[i + 2])) return refuse(host, "X is smaller than the kernel");
    dims[i + 2] = a[i].out;
  }
  return ASSAY_OK;
}

static int64_t product(const int64_t* dims, int count) {
  int64_t all = 1;
  for (int i = 0; i < count; ++i) all *= dims[i];
  return all;
}

static void compute(const session* s, const axis* a, const assay_tensor* x, const int64_t* dims, float* y) {
  const int64_t planes = product(dims, 2), y_plane = product(dims + 2, s->axes), x_plane = product(x->dims + 2, s->axes);
  for (int64_t p = 0; p < planes && y_plane > 0; ++p) {
    int64_t o[MOST_AXES] = {0};
    float* to = y + p * y_plane;
    do *to++ = average(s, a, (const float*)x->data + p * x_plane, o);
    while (next(s->axes, a, o, 0));
  }
}

static int32_t run(void* kept, const assay_tensor* inputs, int32_t input_count, const assay_host* host) {
  const session* s = kept;
  axis a[MOST_AXES];
  int64_t dims[MOST_AXES + 2];
  const int32_t status = measure(s, inputs, input_count, a, dims, host);
  if (status != ASSAY_OK) return status;
  const size_t bytes = (size_t)product(dims, s->axes + 2) * sizeof(float);
  float* y = malloc(bytes + 1);
  if (!y) abort();
  compute(s, a, inputs, dims, y);
  const assay_tensor output = {F32, s->axes + 2, dims, y, bytes};
  host->emit(host->context, 0, &output);
  free(y);
  return ASSAY_OK;
}

static int32_t run_into(void* kept, const assay_tensor* inputs, int32_t input_count, const assay_buffer* outputs,
                        int32_t output_count, const assay_host* host) {
  const session* s = kept;
  axis a[MOST_AXES];
  int64_t dims[MOST_AXES + 2];
  const int32_t status = measure(s, inputs, input_count, a, dims, host);
  if (status != ASSAY_OK) return status;
  if (output_count != 1) return refuse(host, "AveragePool has one output");
  compute(s, a, inputs, dims, outputs[0].data);
  return ASSAY_OK;
}

static void unload(void* kept) { free(kept); }

const assay_backend* assay_backend_v1(void) {
  static const assay_backend backend = {.abi = ASSAY_BACKEND_ABI,
                                        .size = sizeof(assay_backend),
                                        .wants_node = 1,
                                        .describe = describe,
                                        .load = load,
                                        .run = run,
                                        .unload = unload,
                                        .run_into = run_into};
  return &backend;
}
