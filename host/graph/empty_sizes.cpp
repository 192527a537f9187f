#include "host/graph/empty_sizes.h"

#include <algorithm>

namespace ferry::graph {
namespace {

// Whether a size adds and multiplies symbols and numbers of at least 0, and so means the same whether symbols may be 0.
bool is_sum(const ir::Expr& expr) {
  if (expr.as<ir::Var>() != nullptr) return true;
  if (const auto* number = expr.as<ir::IntImm>()) return number->value >= 0;
  const auto* binary = expr.as<ir::Binary>();
  if (binary == nullptr || (binary->op != ir::BinaryOp::add && binary->op != ir::BinaryOp::mul)) return false;
  return is_sum(binary->left) && is_sum(binary->right);
}

class ZeroCheck {
 public:
  // Where arithmetic takes the symbol to be at least 0, it is right whatever its form.
  ZeroCheck(const Graph& graph, const std::string& symbol, bool is_from_zero)
      : graph_(graph), symbol_(symbol), is_from_zero_(is_from_zero) {}

  bool run() const {
    return std::ranges::all_of(graph_.tensors,
                               [&](const Tensor& tensor) { return all_of(tensor.shape, &ZeroCheck::is_simple); }) &&
           std::ranges::all_of(graph_.nodes, [&](const Node& node) { return is_safe(node); });
  }

 private:
  bool depends(const Size& size) const {
    if (size.constant()) return false;
    const std::vector<std::string> symbols = size.symbols();
    return std::ranges::find(symbols, symbol_) != symbols.end();
  }
  bool is_free(const Size& size) const { return !depends(size); }
  bool is_simple(const Size& size) const {
    return is_from_zero_ || is_free(size) || divide_exactly(size, Size::symbol(symbol_)).has_value() ||
           is_sum(size.expr());
  }
  bool all_of(const Shape& shape, bool (ZeroCheck::*holds)(const Size&) const) const {
    return std::ranges::all_of(shape, [&](const Size& size) { return (this->*holds)(size); });
  }
  const Shape& shape_of(TensorId id) const { return graph_.tensor(id).shape; }

  // Whether no window moves over a dimension that depends on the symbol.
  bool is_free_image(const Node& node) const {
    const Shape& x = shape_of(node.inputs[0]);
    return x.size() < 2 || all_of(Shape(x.begin() + 2, x.end()), &ZeroCheck::is_free);
  }

  // Whether dimensions that depend on the symbol are sliced as a whole.
  bool is_whole(const SliceAttributes& slice, const Shape& x) const {
    if (is_from_zero_) return true;
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (depends(slice.begin[d])) return false;
      const bool takes_all = slice.begin[d].constant() == 0 && slice.stride[d] == 1 && slice.shape[d] == x[d];
      if (depends(x[d]) && !takes_all) return false;
    }
    return true;
  }

  bool is_safe(const Node& node) const {
    const auto dimension = [&](std::size_t d) { return is_free(shape_of(node.inputs[0])[d]); };
    switch (node.op) {
      case Operator::conv:
      case Operator::quantized_conv:
      case Operator::max_pool:
      case Operator::average_pool: return is_free_image(node);
      case Operator::slice: return is_whole(std::get<SliceAttributes>(node.attributes), shape_of(node.inputs[0]));
      case Operator::pad: {
        const auto& pad = std::get<PadAttributes>(node.attributes);
        return all_of(pad.before, &ZeroCheck::is_free) && all_of(pad.after, &ZeroCheck::is_free);
      }
      case Operator::gather:
      case Operator::gather_elements: return dimension(std::get<DimensionAttributes>(node.attributes).dimension);
      case Operator::arg_max:
      case Operator::arg_min:
        return std::ranges::all_of(std::get<ReduceAttributes>(node.attributes).dimensions, dimension);
      case Operator::sort_rank: return dimension(std::get<SortAttributes>(node.attributes).dimension);
      case Operator::sizes: return all_of(std::get<SizesAttributes>(node.attributes).elements, &ZeroCheck::is_simple);
      case Operator::top_k: return dimension(shape_of(node.inputs[0]).size() - 1);
      // No index is inside of an empty dimension.
      case Operator::scatter: return is_from_zero_ || dimension(std::get<ScatterAttributes>(node.attributes).dimension);
      case Operator::loop:
      case Operator::end_loop: return is_simple(std::get<LoopAttributes>(node.attributes).count);
      case Operator::matmul:
      case Operator::quantized_matmul:
      case Operator::packed_matmul:
      case Operator::reduce_sum:
      case Operator::reduce_mean:
      case Operator::reduce_max:
      case Operator::reduce_min:
      case Operator::reduce_prod:
      case Operator::softmax:
      case Operator::batch_norm:
      case Operator::layer_norm:
      case Operator::reshape:
      case Operator::broadcast:
      case Operator::transpose:
      case Operator::concat:
      case Operator::convert:
      case Operator::cumulative_sum:
      case Operator::cumulative_prod:
      case Operator::iota:
      case Operator::cast:
      case Operator::where: return true;
#define FERRY_CASE(name, count, attributes) case Operator::name:
        FERRY_GRAPH_UNARY(FERRY_CASE)
        FERRY_GRAPH_BINARY(FERRY_CASE)
#undef FERRY_CASE
        return true;
    }
    return false;
  }

  const Graph& graph_;
  const std::string& symbol_;
  bool is_from_zero_;
};

// Whether something is joined to a dimension of this size, as to a cache.
bool is_joined(const Graph& graph, const std::string& symbol) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) {
    if (node.op != Operator::concat) return false;
    const std::size_t dimension = std::get<DimensionAttributes>(node.attributes).dimension;
    return std::ranges::any_of(node.inputs, [&](TensorId input) {
      return std::ranges::count(graph.tensor(input).shape[dimension].symbols(), symbol) > 0;
    });
  });
}

}  // namespace

std::vector<bool> sizes_that_may_be_zero(const Graph& graph) {
  std::vector<bool> may_be_zero;
  for (const std::string& symbol : graph.symbols) {
    const bool is_from_zero = std::ranges::count(graph.from_zero, symbol) > 0;
    may_be_zero.push_back(ZeroCheck(graph, symbol, is_from_zero).run());
  }
  return may_be_zero;
}

std::set<std::string> symbols_to_take_from_zero(const Graph& graph) {
  std::set<std::string> symbols;
  for (const std::string& symbol : graph.symbols) {
    const bool is_candidate = is_joined(graph, symbol) && !ZeroCheck(graph, symbol, false).run();
    if (is_candidate && ZeroCheck(graph, symbol, true).run()) symbols.insert(symbol);
  }
  return symbols;
}

}  // namespace ferry::graph
