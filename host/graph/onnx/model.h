// An ONNX model as its file describes it, free of protobuf. Names, shapes and contents are checked as far as that needs
// no knowledge of operators.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ferry/types.h"
#include "host/graph/graph.h"

namespace ferry::graph::onnx {

// A tensor with contents: an initializer or an attribute.
struct Constant {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::shared_ptr<const ConstantData> data;
  // The element type's name, if ferry has none for it; then there are no data.
  std::string unsupported_type = {};
};

// The value of an attribute that no operator ferry imports has, such as a graph.
struct OtherAttribute {
  std::string kind;
};
using AttributeValue = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                                    std::vector<std::string>, Constant, OtherAttribute>;

struct ModelNode {
  std::string name;  // of its first output if it has no name itself
  std::string op, domain;
  std::vector<std::string> inputs, outputs;  // empty: optional and not given
  std::map<std::string, AttributeValue> attributes;
};

// A size that a number or a name gives, or nothing.
struct Dimension {
  std::optional<std::int64_t> value;
  std::string name;
};
struct ValueInfo {
  std::string name;
  std::optional<DType> dtype;  // nothing: of a type that ferry has none for
  std::string type_name;       // for messages
  std::optional<std::vector<Dimension>> shape;
};

struct Model {
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;  // by domain; that of ONNX's own operators is ""
  std::string name;
  std::vector<ValueInfo> inputs, outputs;
  std::map<std::string, Constant> initializers;
  std::vector<ModelNode> nodes;
};

inline constexpr std::int64_t kMinIrVersion = 3, kMaxIrVersion = 14;
inline constexpr std::int64_t kMinOpset = 6, kMaxOpset = 28;

// Reads a file, and the files beside it that contain its external data. Throws UsageError that names the file and says
// what is wrong with it.
Model read_model(const std::string& path);
// Parses the contents of a file; `path` is its name in messages, and external data are searched for beside it.
Model parse_model(std::span<const std::uint8_t> bytes, const std::string& path);

}  // namespace ferry::graph::onnx
