#include "host/graph/passes/widen_floats.h"

#include "host/graph/passes/replacements.h"
#include "host/graph/prune.h"
#include "module/float_element.h"

#include <algorithm>
#include <utility>

namespace ferry::graph {
namespace {

bool is_narrow(DType type) { return type == DType::f16 || type == DType::bf16; }

class Widener {
 public:
  explicit Widener(const Graph& graph) : result_(graph), types_(graph.tensors.size()) {
    for (TensorId id = 0; id < types_.size(); ++id) types_[id] = graph.tensor(id).dtype;
  }

  Graph run() {
    if (std::ranges::none_of(types_, is_narrow)) return std::move(result_);
    const std::vector<Node> nodes = std::exchange(result_.nodes, {});
    for (const TensorId id : result_.inputs)
      if (is_narrow(types_[id])) replacements_.replace(id, convert(id, DType::f32));
    for (const Node& node : nodes) add(node);
    for (TensorId& id : result_.outputs) {
      if (is_input(id) || result_.tensor(id).constant != nullptr) continue;
      const DType type = types_[id];
      id = is_narrow(type) ? convert(replacements_(id), type) : replacements_(id);
    }
    return prune(result_);
  }

 private:
  bool is_input(TensorId id) const { return std::ranges::find(result_.inputs, id) != result_.inputs.end(); }

  // Adds a tensor in float32 like a narrow one.
  TensorId append(Tensor narrow) {
    narrow.dtype = DType::f32;
    result_.tensors.push_back(std::move(narrow));
    return static_cast<TensorId>(result_.tensors.size() - 1);
  }

  TensorId cast(TensorId from, DType to, const std::string& name) {
    return add_node(result_, {Operator::cast, name, {from}, {}, CastAttributes{to}});
  }

  // Converts an input or an output of the network.
  TensorId convert(TensorId id, DType to) { return cast(id, to, result_.tensor(id).name + " to " + dtype_name(to)); }

  // Returns the tensor in float32 that stands for one of a narrow type.
  TensorId widened(TensorId id) {
    const Tensor tensor = result_.tensor(id);
    if (tensor.constant == nullptr || replacements_(id) != id) return replacements_(id);
    const std::size_t bytes = dtype_bytes(tensor.dtype), count = tensor.constant->bytes.size() / bytes;
    const auto data = std::make_shared<std::vector<std::uint8_t>>(count * sizeof(float));
    for (std::size_t i = 0; i < count; ++i)
      store_float(DType::f32, load_float(tensor.dtype, tensor.constant->bytes.data() + i * bytes),
                  data->data() + i * sizeof(float));
    replacements_.replace(id, add_constant(result_, tensor.name, {DType::f32, tensor.shape},
                                           std::make_shared<const ConstantData>(ConstantData{*data, data})));
    return replacements_(id);
  }

  void add(Node node) {
    const DType from = node.inputs.empty() || node.inputs[0] == kNoTensor ? DType::f32 : types_[node.inputs[0]];
    for (TensorId& id : node.inputs)
      if (id != kNoTensor) id = is_narrow(types_[id]) ? widened(id) : replacements_(id);
    const TensorId output = node.outputs[0];
    if (auto* own = std::get_if<CastAttributes>(&node.attributes)) {
      if (own->to == DType::f32 && is_narrow(from)) return replacements_.replace(output, node.inputs[0]);
      // Every byte is exact in both types. Passes that look for dequantized bytes find them as with float32.
      const bool is_exact = dtype_bytes(from) == 1;
      if (is_exact && is_narrow(own->to)) own->to = DType::f32;
      if (is_narrow(own->to)) {
        const TensorId rounded = cast(node.inputs[0], own->to, node.name);
        return replacements_.replace(output, cast(rounded, DType::f32, node.name));
      }
    }
    for (TensorId& id : node.outputs) {
      if (!is_narrow(types_[id])) continue;
      const TensorId wide = append(result_.tensor(id));
      replacements_.replace(id, wide);
      id = wide;
    }
    result_.nodes.push_back(std::move(node));
  }

  Graph result_;
  std::vector<DType> types_;  // those of the tensors that the network had before
  Replacements replacements_;
};

}  // namespace

Graph widen_floats(const Graph& graph) { return Widener(graph).run(); }

}  // namespace ferry::graph
