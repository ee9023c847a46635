/* SPDX-License-Identifier: Apache-2.0
   Runs one golden vector on a device without Python: C99, nothing but the standard library. Edit device.c.

     cc -std=c99 -O2 run.c device.c -o run
     for case in VECTORS/[gvur]*"/test_"*; do ./run "$case" "ANSWERS/$(basename "$case")"; done

   ./run CASE ANSWER reads CASE/model.onnx and CASE/test_data_set_N/input_M.pb and writes the folders and files of ANSWER,
   which have to be made before: mkdir -p ANSWER/test_data_set_0 ANSWER/test_data_set_1 (the second not for a graph, which
   has one data set). A case that ends this program is noted as crashed in ANSWER/error.txt. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_tensors = 256, data_sets = 2, string = 8 };

static void stop(const char *what, const char *path) {
  fprintf(stderr, "run: %s %s\n", what, path);
  exit(2);
}

static unsigned char *contents(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*size + 1);
  if (!bytes || fread(bytes, 1, *size, file) != *size) stop("cannot read", path);
  fclose(file);
  return bytes;
}

static uint64_t varint(const unsigned char **at, const unsigned char *end) {
  uint64_t value = 0;
  for (int shift = 0; *at < end && shift < 64; shift += 7) {
    const unsigned char byte = *(*at)++;
    value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return value;
  }
  stop("a broken number in", "a tensor");
  return 0;
}

static void add_dim(struct tensor *tensor, uint64_t extent) {
  if (tensor->rank == most_dims) stop("too many dimensions in", "a tensor");
  tensor->dims[tensor->rank++] = (int64_t)extent;
}

static void append(struct tensor *tensor, const unsigned char *bytes, size_t count) {
  tensor->data = realloc(tensor->data, tensor->bytes + count + 1);
  if (!tensor->data) stop("no memory for", "a tensor");
  memcpy(tensor->data + tensor->bytes, bytes, count);
  tensor->bytes += count;
}

/* TensorProto: dims is field 1, data_type 2, string_data 6, raw_data 9 (little-endian). */
static int read_tensor(const char *path, struct tensor *tensor) {
  size_t size = 0;
  const unsigned char *bytes = contents(path, &size), *at = bytes, *end = bytes + size;
  if (!bytes) return 0;
  memset(tensor, 0, sizeof *tensor);
  tensor->data = malloc(1);
  while (at < end) {
    const uint64_t tag = varint(&at, end), value = varint(&at, end);
    if ((tag & 7) == 0) {
      if (tag >> 3 == 1) add_dim(tensor, value);
      if (tag >> 3 == 2) tensor->type = (int)value;
      continue;
    }
    if ((tag & 7) != 2 || value > (uint64_t)(end - at)) stop("a broken field in", path);
    if (tag >> 3 == 1)
      for (const unsigned char *dim = at; dim < at + value;) add_dim(tensor, varint(&dim, at + value));
    if (tag >> 3 == 6)
      for (int byte = 0; byte < 4; ++byte) append(tensor, &(unsigned char){(unsigned char)(value >> (8 * byte))}, 1);
    if (tag >> 3 == 6 || tag >> 3 == 9) append(tensor, at, (size_t)value);
    at += value;
  }
  free((void *)bytes);
  return 1;
}

static void put_varint(FILE *file, uint64_t value) {
  for (; value > 127; value >>= 7) fputc((int)(value & 127) | 128, file);
  fputc((int)value, file);
}

static void write_tensor(const char *path, const struct tensor *tensor) {
  FILE *file = fopen(path, "wb");
  if (!file) stop("cannot write", path);
  for (int i = 0; i < tensor->rank; ++i) {
    put_varint(file, 1 << 3);
    put_varint(file, (uint64_t)tensor->dims[i]);
  }
  put_varint(file, 2 << 3);
  put_varint(file, (uint64_t)tensor->type);
  const unsigned char *at = tensor->data, *end = at + tensor->bytes;
  while (tensor->type == string && end - at >= 4) {
    const size_t length = at[0] | at[1] << 8 | at[2] << 16 | (size_t)at[3] << 24;
    if (length > (size_t)(end - at) - 4) stop("broken strings for", path);
    put_varint(file, 6 << 3 | 2);
    put_varint(file, length);
    fwrite(at + 4, 1, length, file);
    at += 4 + length;
  }
  if (tensor->type != string) {
    put_varint(file, 9 << 3 | 2);
    put_varint(file, tensor->bytes);
    fwrite(at, 1, tensor->bytes, file);
  }
  if (fclose(file)) stop("cannot write", path);
}

static void say(const char *folder, const char *name, const char *words) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file || fprintf(file, "%s\n", words) < 0 || fclose(file)) stop("cannot write", path);
}

int main(int count, char **words) {
  if (count != 3) stop("usage:", "run CASE ANSWER");
  char path[4096];
  snprintf(path, sizeof path, "%s/model.onnx", words[1]);
  size_t size = 0;
  unsigned char *model = contents(path, &size);
  if (!model) stop("there is no", path);
  say(words[2], "error.txt", "crashed: the runner ended in the middle of this case");
  const int sets = strstr(words[1], "test_graph_") ? 1 : data_sets;
  static struct tensor outputs[data_sets][most_tensors];
  int produced[data_sets];
  for (int set = 0; set < sets; ++set) {
    static struct tensor inputs[most_tensors];
    int given = 0;
    for (; given < most_tensors; ++given) {
      snprintf(path, sizeof path, "%s/test_data_set_%d/input_%d.pb", words[1], set, given);
      if (!read_tensor(path, &inputs[given])) break;
    }
    const char *because = NULL;
    produced[set] = run_model(model, size, inputs, given, outputs[set], most_tensors, &because);
    if (produced[set] < 0) {
      say(words[2], produced[set] == not_implemented ? "unsupported.txt" : "refused.txt", because);
      goto told;
    }
  }
  for (int set = 0; set < sets; ++set)
    for (int i = 0; i < produced[set]; ++i) {
      snprintf(path, sizeof path, "%s/test_data_set_%d/output_%d.pb", words[2], set, i);
      write_tensor(path, &outputs[set][i]);
    }
told:
  snprintf(path, sizeof path, "%s/error.txt", words[2]);
  return remove(path) ? 2 : 0;
}
