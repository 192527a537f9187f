#include "host/graph/graph_text.h"

#include <charconv>
#include <iterator>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/graph/operator_kind.h"

namespace ferry::graph {
namespace {

template <class List, class Text>
std::string joined(const List& list, const std::string& between, const Text& text) {
  std::string all;
  for (const auto& each : list) all += (all.empty() ? "" : between) + text(each);
  return all;
}

const char* mode_name(ScatterMode mode) {
  switch (mode) {
    case ScatterMode::replace: return "replace";
    case ScatterMode::add: return "add";
    case ScatterMode::mul: return "mul";
    case ScatterMode::minimum: return "minimum";
    case ScatterMode::maximum: return "maximum";
  }
  return "unknown";
}

// Two numbers have the same text only if they are the same.
std::string number(double value) {
  std::string text = std::to_string(value);
  if (std::stod(text) != value) {
    char digits[40];
    const auto single = static_cast<float>(value);
    const auto end = single == value ? std::to_chars(digits, std::end(digits), single)
                                     : std::to_chars(digits, std::end(digits), value);
    return {digits, end.ptr};
  }
  text.erase(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

// The attributes of a node, each as " name=value"; those that change nothing are left out.
struct AttributesText {
  std::string operator()(const NoAttributes&) const { return ""; }
  std::string operator()(const ConvAttributes& conv) const {
    return windows(conv.windows) + (conv.groups == 1 ? "" : " groups=" + std::to_string(conv.groups)) +
           (conv.winograd_tile == 0 ? "" : " winograd=" + std::to_string(conv.winograd_tile)) +
           (conv.fuses_input ? " fuses_input" : "");
  }
  std::string operator()(const PoolAttributes& pool) const {
    return windows(pool.windows) + (pool.ceil ? " ceil" : "") + (pool.count_padding ? " count_padding" : "");
  }
  std::string operator()(const MatmulAttributes& matmul) const {
    return std::string(matmul.transposed_a ? " transposed_a" : "") + (matmul.transposed_b ? " transposed_b" : "") +
           (matmul.fuses_rows ? " fuses_rows" : "");
  }
  std::string operator()(const QuantizedConvAttributes& quantized) const {
    return (*this)(quantized.conv) + scaling(quantized) + products(quantized.products);
  }
  std::string operator()(const QuantizedMatmulAttributes& quantized) const {
    return (*this)(quantized.matmul) + scaling(quantized) + products(quantized.products) +
           (quantized.lanes == 1 ? "" : " lanes=" + std::to_string(quantized.lanes));
  }
  std::string operator()(const ReduceAttributes& reduce) const {
    return " dimensions=" + numbers(reduce.dimensions) + (reduce.keep ? " keep" : "");
  }
  std::string operator()(const DimensionAttributes& one) const { return " dimension=" + std::to_string(one.dimension); }
  std::string operator()(const BatchNormAttributes& norm) const { return " epsilon=" + number(norm.epsilon); }
  std::string operator()(const LayerNormAttributes& norm) const {
    return " dimension=" + std::to_string(norm.dimension) + " epsilon=" + number(norm.epsilon);
  }
  std::string operator()(const ReshapeAttributes&) const { return ""; }
  std::string operator()(const BroadcastAttributes&) const { return ""; }
  std::string operator()(const TransposeAttributes& transpose) const { return " order=" + numbers(transpose.order); }
  std::string operator()(const SliceAttributes& slice) const {
    return " begin=" + graph::to_text(slice.begin) + " stride=" + numbers(slice.stride);
  }
  std::string operator()(const PadAttributes& pad) const {
    return " before=" + graph::to_text(pad.before) + " after=" + graph::to_text(pad.after) +
           " value=" + (pad.integer == 0 ? number(pad.value) : std::to_string(pad.integer));
  }
  std::string operator()(const CastAttributes&) const { return ""; }
  std::string operator()(const ScatterAttributes& scatter) const {
    return " dimension=" + std::to_string(scatter.dimension) + " mode=" + mode_name(scatter.mode);
  }
  std::string operator()(const SortAttributes& sort) const {
    return " dimension=" + std::to_string(sort.dimension) + (sort.descending ? " descending" : "");
  }
  std::string operator()(const PackedMatmulAttributes& packed) const {
    return " bits=" + std::to_string(packed.bits) + " block=" + std::to_string(packed.block) +
           (packed.sums_blocks ? " sums of blocks" : "") +
           (packed.has_int8_rows ? " int8 rows by " + std::string(dtype_name(packed.number)) : "");
  }
  std::string operator()(const TopKAttributes& top) const {
    return " count=" + std::to_string(top.count) + (top.largest ? " largest" : "");
  }
  std::string operator()(const CumulativeAttributes& cumulative) const {
    return " dimension=" + std::to_string(cumulative.dimension) + (cumulative.exclusive ? " exclusive" : "") +
           (cumulative.backwards ? " backwards" : "");
  }
  std::string operator()(const IotaAttributes&) const { return ""; }
  std::string operator()(const SizesAttributes& sizes) const { return " elements=" + graph::to_text(sizes.elements); }
  std::string operator()(const LoopAttributes& loop) const {
    std::string text = " count=" + graph::to_text(loop.count) + (loop.has_condition ? " conditional" : "");
    if (loop.tensors.empty()) return text;
    const auto how = [](const LoopTensor& tensor) {
      return std::string(tensor.is_backwards ? "backwards" : "forwards") + (tensor.in_place ? " in place" : "");
    };
    return text + " tensors=" + joined(loop.tensors, ",", how);
  }

 private:
  template <class List>
  static std::string numbers(const List& list) {
    return joined(list, ",", [](auto each) { return std::to_string(each); });
  }

  template <class Quantized>
  static std::string scaling(const Quantized& quantized) {
    if (!quantized.is_scaled) return " unscaled";
    return quantized.in_integers ? "" : " in_floats";
  }
  static std::string products(const ops::IntegerProducts& products) {
    std::string text;
    if (products.factors == ops::IntegerFactors::flipped) text += " factors=flipped";
    if (products.factors == ops::IntegerFactors::int16) text += " factors=int16";
    if (products.group > 1) text += " dot=" + std::to_string(products.group);
    if (products.weights_above_minimum) text += " weights>-128";
    if (products.step > 1) text += " steps of " + std::to_string(products.step);
    return text;
  }

  static std::string windows(const std::vector<WindowAttributes>& windows) {
    std::string text;
    const auto add = [&](const char* name, const char* between, auto value, auto ignored) {
      const std::string values = joined(windows, between, value);
      const std::string plain = joined(windows, between, [&](const WindowAttributes&) { return std::string(ignored); });
      if (values != plain) text += std::string(" ") + name + "=" + values;
    };
    add("kernel", "x", [](const WindowAttributes& w) { return std::to_string(w.kernel); }, "1");
    add("stride", "x", [](const WindowAttributes& w) { return std::to_string(w.stride); }, "1");
    add("dilation", "x", [](const WindowAttributes& w) { return std::to_string(w.dilation); }, "1");
    add(
        "padding", ",",
        [](const WindowAttributes& w) { return std::to_string(w.pad_before) + "+" + std::to_string(w.pad_after); },
        "0+0");
    return text;
  }
};

std::string number_of(TensorId id) { return id == kNoTensor ? "none" : "%" + std::to_string(id); }

std::string typed(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  return number_of(id) + " " + to_text(type_of(tensor)) +
         (tensor.channel_block == 1 ? "" : " NCHW" + std::to_string(tensor.channel_block) + "c");
}

std::string named(const Graph& graph, TensorId id) { return typed(graph, id) + " " + printable(graph.tensor(id).name); }

std::string to_text(const Graph& graph, const Node& node) {
  const auto operand = [&](TensorId id) {
    return id != kNoTensor && graph.tensor(id).constant != nullptr ? named(graph, id) : number_of(id);
  };
  return joined(node.outputs, ", ", [&](TensorId id) { return typed(graph, id); }) + " = " + operator_name(node.op) +
         "(" + joined(node.inputs, ", ", operand) + ")" + std::visit(AttributesText(), node.attributes) +
         (node.in_place ? " in place" : "") + "  " + printable(node.name);
}

std::string first_line(const Graph& graph) {
  return "network " + printable(graph.name) + "(" +
         joined(graph.inputs, ", ", [&](TensorId id) { return named(graph, id); }) + ")\n";
}

std::string requirements_text(const Graph& graph) {
  std::string text;
  for (const Requirement& requirement : graph.requirements) text += "  requires " + requirement.message + "\n";
  return text;
}

std::string last_line(const Graph& graph) {
  std::string text;
  for (std::size_t o = 0; o < graph.outputs.size(); ++o)
    text += (o == 0 ? "  return " : ", ") + number_of(graph.outputs[o]) + " " + printable(graph.output_names[o]);
  return text + "\n";
}

}  // namespace

std::string to_text(const Graph& graph) {
  std::string text = first_line(graph) + requirements_text(graph);
  std::size_t depth = 1;
  for (const Node& node : graph.nodes) {
    if (node.op == Operator::end_loop) --depth;
    text += std::string(2 * depth, ' ') + to_text(graph, node) + "\n";
    if (node.op == Operator::loop) ++depth;
  }
  return text + last_line(graph);
}

std::string groups_text(const Graph& graph, const std::vector<Group>& groups) {
  std::string text = first_line(graph);
  for (const Group& group : groups) {
    text += "  " + printable(name_of(graph, group)) + "\n";
    for (const std::size_t node : group.nodes)
      text += (node == group.nodes.back() ? "  └─ " : "  ├─ ") + to_text(graph, graph.nodes[node]) + "\n";
  }
  for (const Node& node : graph.nodes)
    if (!has_kernel(node)) text += "  no kernel: " + to_text(graph, node) + "\n";
  return text + last_line(graph);
}

}  // namespace ferry::graph
