/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_DEVICE_H
#define ASSAY_DEVICE_H

#include <stddef.h>
#include <stdint.h>

enum { most_dims = 16 };

struct tensor {
  int type; /* TensorProto.DataType: 1 f32, 2 u8, 3 i8, 6 i32, 7 i64, 8 string, 9 bool, 10 f16, 11 f64, 16 bf16, ... */
  int rank;
  int64_t dims[most_dims];
  size_t bytes;
  /* From malloc. Row-major, little-endian; elements of less than eight bits fill bytes from the lowest bit on, as in
     raw_data. Of a string its length in four bytes, then its bytes, one string after the other. */
  unsigned char* data;
};

enum { refused = -1, not_implemented = -2 };

/* The number of outputs; or refused or not_implemented, with the runtime's words in *because. Inputs come in the order
   of the graph inputs of the model. */
int run_model(const unsigned char* model, size_t model_bytes, const struct tensor* inputs, int given,
              struct tensor* outputs, int most_outputs, const char** because);

#endif
