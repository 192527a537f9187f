// Tensors of ONNX files as bytes of ferry's element types.
#pragma once

#include <memory>
#include <string>

#include "host/graph/onnx/external_data.h"
#include "host/graph/onnx/model.h"

namespace onnx {
class SparseTensorProto;
class TensorProto;
}  // namespace onnx

namespace ferry::graph::onnx {

// Returns ferry's element type for one of ONNX's; nothing if there is none.
std::optional<DType> dtype_of(std::int32_t element_type);
// Returns "float8e4m3fn" or "type 99", for example.
std::string element_type_name(std::int32_t element_type);

// Converts a tensor. The result may refer to its bytes, which `owner` keeps in memory. Throws UsageError without a name
// in front when contents, shape and type do not fit each other.
Constant convert_tensor(const ::onnx::TensorProto& tensor, const std::shared_ptr<const void>& owner,
                        ExternalFiles& files);
// Returns a sparse tensor as a dense one, whose bytes are taken from those that there is room for.
Constant convert_sparse_tensor(const ::onnx::SparseTensorProto& tensor, const std::shared_ptr<const void>& owner,
                               ExternalFiles& files, std::size_t& room);

}  // namespace ferry::graph::onnx
