// Parses the protobuf of a model and converts it to the structs of model.h.
#include <onnx.pb.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>

#include "base/format.h"
#include "base/mapped_file.h"
#include "base/printable.h"
#include "ferry/error.h"
#include "host/graph/onnx/convert_tensor.h"
#include "host/graph/onnx/declared_ranks.h"
#include "host/graph/onnx/model.h"

namespace ferry::graph::onnx {
namespace {

using ::onnx::AttributeProto;

// Calls part(), and puts what is being read in front of the message of its failure.
auto naming(const std::string& what, const auto& part) {
  try {
    return part();
  } catch (const UsageError& error) {
    throw UsageError(what + ": " + error.what());
  }
}

// Bounds the memory that sparse initializers of a small file ask for as dense ones, in bytes.
constexpr std::size_t kMaxSparseBytes = std::size_t{1} << 30;

template <class Element>
std::vector<Element> list_of(const auto& values) {
  return std::vector<Element>(values.begin(), values.end());
}

class Converter {
 public:
  Converter(std::shared_ptr<const ::onnx::ModelProto> proto, const std::string& path)
      : proto_(std::move(proto)), path_(path), files_(path) {}

  Model convert() {
    model_.ir_version = proto_->ir_version();
    if (model_.ir_version < kMinIrVersion || model_.ir_version > kMaxIrVersion) {
      throw UsageError(format("expected IR version %d to %d, got %lld", static_cast<int>(kMinIrVersion),
                              static_cast<int>(kMaxIrVersion), static_cast<long long>(model_.ir_version)));
    }
    model_.opsets = convert_opsets(proto_->opset_import());
    static_cast<ModelGraph&>(model_) = convert_graph(proto_->graph());
    model_.captured.clear();  // nothing is around it
    for (const auto& function : proto_->functions()) {
      const std::string name = qualified_name(domain_of(function), function.name());
      const std::string what = "function '" + printable(name) + "'";
      ModelFunction converted = naming(what, [&] { return convert_function(function); });
      if (!model_.functions.emplace(name, std::move(converted)).second) {
        throw UsageError(what + ": expected a name of its own");
      }
    }
    model_.files = files_.paths();
    model_.files.insert(model_.files.begin(), path_);
    return std::move(model_);
  }

 private:
  static std::string domain_of(const auto& proto) { return proto.domain() == "ai.onnx" ? "" : proto.domain(); }

  static Opsets convert_opsets(const auto& imports) {
    Opsets opsets;
    for (const auto& import : imports) {
      const std::string domain = domain_of(import);
      const auto [known, is_new] = opsets.emplace(domain, import.version());
      if (!is_new && known->second != import.version()) {
        throw UsageError(format("expected one opset of the domain '%s', got %lld and %lld",
                                domain.empty() ? "ai.onnx" : printable(domain).c_str(),
                                static_cast<long long>(known->second), static_cast<long long>(import.version())));
      }
      if (domain.empty() && (import.version() < kMinOpset || import.version() > kMaxOpset)) {
        throw UsageError(format("expected ai.onnx opset %d to %d, got %lld", static_cast<int>(kMinOpset),
                                static_cast<int>(kMaxOpset), static_cast<long long>(import.version())));
      }
    }
    return opsets;
  }

  ModelGraph convert_graph(const ::onnx::GraphProto& proto) {
    ModelGraph graph;
    graph.name = proto.name();
    const auto add_initializer = [&](const std::string& name, const auto& convert) {
      const std::string what = "initializer '" + printable(name) + "'";
      Constant constant = naming(what, convert);
      if (name.empty() || !graph.initializers.emplace(name, std::move(constant)).second) {
        throw UsageError(what + ": expected a name of its own");
      }
    };
    for (const auto& tensor : proto.initializer())
      add_initializer(tensor.name(), [&] { return convert_tensor(tensor, proto_, files_); });
    for (const auto& tensor : proto.sparse_initializer()) {
      add_initializer(tensor.values().name(),
                      [&] { return convert_sparse_tensor(tensor, proto_, files_, room_for_sparse_); });
    }
    for (const auto& input : proto.input()) graph.inputs.push_back(convert_value(input));
    for (const auto& output : proto.output()) graph.outputs.push_back(convert_value(output));
    for (const auto* values : {&proto.value_info(), &proto.output()}) {
      for (const auto& value : *values) {
        if (value.type().has_tensor_type() && value.type().tensor_type().has_shape())
          graph.ranks[value.name()] = static_cast<std::size_t>(value.type().tensor_type().shape().dim_size());
      }
    }
    for (const auto& node : proto.node()) graph.nodes.push_back(convert_node(node));
    expect_distinct_inputs(graph);
    spread_declared_ranks(graph);
    graph.captured = captured_by(graph);
    return graph;
  }

  // Returns what a body reads without providing it.
  static std::vector<std::string> captured_by(const ModelGraph& graph) {
    std::set<std::string> own, read;
    for (const ValueInfo& input : graph.inputs) own.insert(input.name);
    for (const auto& [name, constant] : graph.initializers) own.insert(name);
    for (const ModelNode& node : graph.nodes) {
      own.insert(node.outputs.begin(), node.outputs.end());
      read.insert(node.inputs.begin(), node.inputs.end());
      read.insert(node.captured.begin(), node.captured.end());
    }
    for (const ValueInfo& output : graph.outputs) read.insert(output.name);
    read.erase("");
    std::vector<std::string> captured;
    std::set_difference(read.begin(), read.end(), own.begin(), own.end(), std::back_inserter(captured));
    return captured;
  }

  ModelFunction convert_function(const ::onnx::FunctionProto& proto) {
    ModelFunction function;
    function.opsets = convert_opsets(proto.opset_import());
    function.inputs = list_of<std::string>(proto.input());
    function.outputs = list_of<std::string>(proto.output());
    is_in_function_ = true;
    for (const auto& node : proto.node()) function.nodes.push_back(convert_node(node));
    is_in_function_ = false;
    for (const auto& attribute : proto.attribute_proto()) {
      function.defaults[attribute.name()] =
          naming("attribute '" + printable(attribute.name()) + "'", [&] { return convert_attribute(attribute); });
    }
    return function;
  }

  static void expect_distinct_inputs(const ModelGraph& graph) {
    std::set<std::string> names;
    for (const ValueInfo& input : graph.inputs) {
      if (input.name.empty() || !names.insert(input.name).second) {
        throw UsageError("input '" + printable(input.name) + "': expected a name of its own");
      }
    }
  }

  static ValueInfo convert_value(const ::onnx::ValueInfoProto& proto) {
    ValueInfo value = {proto.name(), {}, "no tensor", {}};
    if (!proto.type().has_tensor_type()) return value;
    const auto& type = proto.type().tensor_type();
    value.dtype = dtype_of(type.elem_type());
    value.type_name = element_type_name(type.elem_type());
    if (!type.has_shape()) return value;
    value.shape.emplace();
    for (const auto& dim : type.shape().dim()) {
      Dimension& dimension = value.shape->emplace_back();
      // Some exporters write -1 for a size that is not known.
      if (dim.has_dim_value() && dim.dim_value() >= 0) dimension.value = dim.dim_value();
      if (dim.has_dim_param() && is_name(dim.dim_param())) dimension.name = dim.dim_param();
    }
    return value;
  }

  // Whether a dimension is called so, by a name or an expression of names, and not only marked as open.
  static bool is_name(const std::string& text) {
    const auto is_letter = [](char letter) {
      return std::isalpha(static_cast<unsigned char>(letter)) != 0 || letter == '_';
    };
    std::string lower = text;
    for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    constexpr std::string_view kNoNames[] = {"none", "null", "unk", "unknown", "nan", "any", "dynamic", "undefined"};
    return std::ranges::any_of(text, is_letter) && std::ranges::find(kNoNames, lower) == std::end(kNoNames);
  }

  ModelNode convert_node(const ::onnx::NodeProto& proto) {
    ModelNode node;
    node.op = proto.op_type();
    node.domain = domain_of(proto);
    node.inputs = list_of<std::string>(proto.input());
    node.outputs = list_of<std::string>(proto.output());
    node.name = proto.name();
    for (const std::string& output : node.outputs) {
      if (node.name.empty()) node.name = output;
    }
    if (node.name.empty()) node.name = node.op;
    const std::string what = "node '" + printable(node.name) + "' (" + printable(node.op) + ")";
    for (const auto& attribute : proto.attribute()) {
      const std::string name = "attribute '" + printable(attribute.name()) + "'";
      AttributeValue value = naming(what + ": " + name, [&] { return convert_attribute(attribute); });
      if (!node.attributes.emplace(attribute.name(), std::move(value)).second) {
        throw UsageError(what + ": expected " + name + " once, got it twice");
      }
    }
    std::set<std::string> captured;
    for (const auto& [name, value] : node.attributes) {
      const auto* body = std::get_if<ModelGraphRef>(&value);
      if (body != nullptr) captured.insert((*body)->captured.begin(), (*body)->captured.end());
    }
    node.captured.assign(captured.begin(), captured.end());
    return node;
  }

  AttributeValue convert_attribute(const AttributeProto& proto) {
    if (!proto.ref_attr_name().empty()) {
      if (!is_in_function_) throw UsageError("expected a value, got a reference to one");
      return AttributeReference{proto.ref_attr_name()};
    }
    switch (proto.type()) {
      case AttributeProto::FLOAT: return proto.f();
      case AttributeProto::INT: return std::int64_t{proto.i()};
      case AttributeProto::STRING: return proto.s();
      case AttributeProto::TENSOR: return convert_tensor(proto.t(), proto_, files_);
      case AttributeProto::FLOATS: return list_of<float>(proto.floats());
      case AttributeProto::INTS: return list_of<std::int64_t>(proto.ints());
      case AttributeProto::STRINGS: return list_of<std::string>(proto.strings());
      case AttributeProto::GRAPH: return std::make_shared<const ModelGraph>(convert_graph(proto.g()));
      case AttributeProto::GRAPHS: return OtherAttribute{"graphs"};
      case AttributeProto::SPARSE_TENSOR: return OtherAttribute{"a sparse tensor"};
      case AttributeProto::SPARSE_TENSORS: return OtherAttribute{"sparse tensors"};
      case AttributeProto::TENSORS: return OtherAttribute{"tensors"};
      case AttributeProto::TYPE_PROTO: return OtherAttribute{"a type"};
      case AttributeProto::TYPE_PROTOS: return OtherAttribute{"types"};
      case AttributeProto::UNDEFINED: break;
    }
    throw UsageError("expected a type");
  }

  std::shared_ptr<const ::onnx::ModelProto> proto_;
  std::string path_;
  ExternalFiles files_;
  Model model_;
  bool is_in_function_ = false;  // whether attribute references are allowed
  std::size_t room_for_sparse_ = kMaxSparseBytes;
};

// Reads a number of protobuf's variable length; returns false at the end of the bytes.
bool take_number(std::span<const std::uint8_t>& bytes, std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const std::uint8_t byte = bytes.front();
    bytes = bytes.subspan(1);
    number |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Says what is wrong with the outermost fields of what should be a model, which protobuf itself does not tell.
std::string outermost_mistake(std::span<const std::uint8_t> bytes) {
  constexpr std::uint64_t kLastField = 26;
  const std::size_t size = bytes.size();
  while (!bytes.empty()) {
    const std::size_t at = size - bytes.size();
    std::uint64_t tag = 0, length = 0;
    if (!take_number(bytes, tag) || (tag >> 3) == 0 || (tag >> 3) > kLastField) {
      return format("expected an ONNX model, got something else at byte %zu", at);
    }
    switch (tag & 7) {
      case 0:
        if (!take_number(bytes, length)) return format("it is truncated at byte %zu", size);
        continue;
      case 1: length = 8; break;
      case 2:
        if (!take_number(bytes, length)) return format("it is truncated at byte %zu", size);
        break;
      case 5: length = 4; break;
      default: return format("expected an ONNX model, got something else at byte %zu", at);
    }
    if (length > bytes.size()) {
      return format("it is truncated: its field at byte %zu needs %llu more bytes, got %zu", at,
                    static_cast<unsigned long long>(length), bytes.size());
    }
    bytes = bytes.subspan(static_cast<std::size_t>(length));
  }
  return "its contents are damaged, or nested deeper than 100 levels";
}

}  // namespace

Model parse_model(std::span<const std::uint8_t> bytes, const std::string& path) {
  return naming("'" + printable(path) + "'", [&] {
    if (bytes.size() > std::numeric_limits<int>::max()) {
      throw UsageError("expected an ONNX model of less than 2 GiB, to which protobuf is limited, got " +
                       count_text(bytes.size()) + " bytes; save its tensors as external data");
    }
    auto proto = std::make_shared<::onnx::ModelProto>();
    if (!proto->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      throw UsageError(outermost_mistake(bytes));
    if (!proto->has_graph() || !proto->has_ir_version()) {
      throw UsageError("expected an ONNX model, got one without a graph or a version");
    }
    return Converter(std::move(proto), path).convert();
  });
}

Model read_model(const std::string& path) { return parse_model(map_file(path).bytes, path); }

}  // namespace ferry::graph::onnx
