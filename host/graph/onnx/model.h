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
  // The element type's name, if ferry has none for it. Then the data are the file's bytes where stored_types.h decodes
  // them, and null otherwise.
  std::string unsupported_type = {};
  std::shared_ptr<const std::vector<std::string>> texts = {};  // elements of the type "string"
};

// The value of an attribute that no operator ferry imports has, such as graphs.
struct OtherAttribute {
  std::string kind;
};
struct ModelGraph;
using ModelGraphRef = std::shared_ptr<const ModelGraph>;
// In a function: the value of this attribute of the node that calls it.
struct AttributeReference {
  std::string name;
};
using AttributeValue =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                 std::vector<std::string>, Constant, ModelGraphRef, AttributeReference, OtherAttribute>;

struct ModelNode {
  std::string name;  // its first output's name if it has none itself
  std::string op, domain;
  std::vector<std::string> inputs, outputs;  // empty: optional and not given
  std::map<std::string, AttributeValue> attributes;
  std::vector<std::string> captured;  // tensors that the graphs among its attributes read from outside
};

// The name of the type of texts.
inline constexpr char kTextType[] = "string";

// A size that a number or a name gives, or nothing. What exporters write where they know no size, such as "?", "-1" or
// "None", is no name: it would make one size of all.
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

// The model's graph, or the body of a loop or branch.
struct ModelGraph {
  std::string name;
  std::vector<ValueInfo> inputs, outputs;
  std::map<std::string, Constant> initializers;
  std::vector<ModelNode> nodes;
  std::vector<std::string> captured;         // tensors that it reads from the graphs around it
  std::map<std::string, std::size_t> ranks;  // the file's declarations for computed tensors
};

using Opsets = std::map<std::string, std::int64_t>;  // by domain; that of ONNX's own operators is ""

// An operator that the model itself defines.
struct ModelFunction {
  Opsets opsets;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, AttributeValue> defaults;  // its attributes' values where a node gives none
  std::vector<ModelNode> nodes;
};

struct Model : ModelGraph {
  std::int64_t ir_version = 0;
  Opsets opsets;
  std::map<std::string, ModelFunction> functions;  // by qualified_name()
  std::vector<std::string> files;                  // the files that were read: its own, and those of external data
};

// Returns "com.example.Op", or "Conv" for one of ONNX's own operators.
inline std::string qualified_name(const std::string& domain, const std::string& op) {
  return domain.empty() ? op : domain + "." + op;
}

inline constexpr std::int64_t kMinIrVersion = 3, kMaxIrVersion = 14;
inline constexpr std::int64_t kMinOpset = 6, kMaxOpset = 28;

// Reads a file, and the files beside it that contain its external data. Throws UsageError that names the file and says
// what is wrong with it.
Model read_model(const std::string& path);
// Parses the contents of a file; `path` is its name in messages, and external data are searched for beside it.
Model parse_model(std::span<const std::uint8_t> bytes, const std::string& path);

}  // namespace ferry::graph::onnx
