// SPDX-License-Identifier: Apache-2.0
#include "reference/onnx_rename.h"

#include "reference/result.h"

#include <onnx/onnx_pb.h>

namespace assay {

std::string with_operator(std::string_view model, const std::string& op_type) {
  onnx::ModelProto proto;
  const bool is_read = proto.ParseFromArray(model.data(), static_cast<int>(model.size()));
  expects(is_read && proto.graph().node_size() == 1, "a model of ours with one node");
  proto.mutable_graph()->mutable_node(0)->set_op_type(op_type);
  return proto.SerializeAsString();
}

}  // namespace assay
