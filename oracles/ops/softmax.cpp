// SPDX-License-Identifier: Apache-2.0
// The exact answers of Softmax and LogSoftmax: exp(x_i) over the sum of all exp(x_j) of the line, or the logarithm of
// that.
#include "oracles/families/axis.h"

namespace assay::oracles {

Oracle softmax() { return along_lines(share_of); }
Oracle log_softmax() { return along_lines(logarithm_of_share); }

}  // namespace assay::oracles
