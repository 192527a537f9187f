// Sizes that depend on data, as far as the graph's builder knows them.
#include <algorithm>
#include <ranges>

#include "base/printable.h"
#include "crosscompile/ir/substitute.h"
#include "host/graph/onnx/node_import.h"
#include "host/graph/sizes_in.h"
#include "module/manifest.h"

namespace ferry::graph::onnx {
namespace {

using ir::BinaryOp;

// Whether the size is no smaller where one of these symbols is larger.
bool grows(const ir::Expr& expr, const std::vector<DataSize>& symbols) {
  if (expr.as<ir::Var>() != nullptr || expr.as<ir::IntImm>() != nullptr) return true;
  const auto* binary = expr.as<ir::Binary>();
  if (binary == nullptr) return false;
  const auto is_fixed = [&](const ir::Expr& part) {
    return std::ranges::none_of(ir::free_vars(part), [&](const ir::Expr& var) {
      return std::ranges::find(symbols, var.as<ir::Var>()->name, &DataSize::symbol) != symbols.end();
    });
  };
  const auto is_factor = [&](const ir::Expr& part) {
    const auto* number = part.as<ir::IntImm>();
    return number == nullptr || number->value >= 0;
  };
  if (is_fixed(expr)) return true;
  switch (binary->op) {
    case BinaryOp::add:
    case BinaryOp::min:
    case BinaryOp::max: return grows(binary->left, symbols) && grows(binary->right, symbols);
    case BinaryOp::sub: return grows(binary->left, symbols) && is_fixed(binary->right);
    case BinaryOp::mul:
      return is_factor(binary->left) && is_factor(binary->right) && grows(binary->left, symbols) &&
             grows(binary->right, symbols);
    case BinaryOp::div: return grows(binary->left, symbols) && is_fixed(binary->right) && is_factor(binary->right);
    default: return false;
  }
}

}  // namespace

// Two tensors are the same if they are computed alike from the same. `left` bounds the comparison.
bool GraphBuilder::are_same(TensorId a, TensorId b, int& left) const {
  if (a == b) return true;
  if (--left < 0) return false;
  const Tensor &one = graph.tensor(a), &other = graph.tensor(b);
  if (one.dtype != other.dtype || one.shape != other.shape) return false;
  if (one.constant != nullptr || other.constant != nullptr)
    return one.constant != nullptr && other.constant != nullptr &&
           std::ranges::equal(one.constant->bytes, other.constant->bytes);
  const auto maker = [&](TensorId id) {
    return std::ranges::find_if(
        graph.nodes, [&](const Node& node) { return std::ranges::find(node.outputs, id) != node.outputs.end(); });
  };
  const auto x = maker(a), y = maker(b);
  if (x == graph.nodes.end() || y == graph.nodes.end() || x == y) return false;
  return x->op == y->op && x->attributes == y->attributes && x->outputs.size() == 1 &&
         std::ranges::equal(x->inputs, y->inputs, [&](TensorId p, TensorId q) {
           return p == q || (p != kNoTensor && q != kNoTensor && are_same(p, q, left));
         });
}

Size GraphBuilder::add_data_size(const std::string& name, const Value& count, const Size& bound) {
  // As many as another node has found: the same elements of one condition, for example.
  constexpr int kMostCompared = 256;
  for (const DataSize& known : data_sizes_) {
    int left = kMostCompared;
    if (known.has_ended) continue;
    if (known.bound == bound && are_same(known.count, tensor_of(count), left)) return Size::symbol(known.symbol, true);
  }
  std::string symbol = printable(name.substr(0, kMaxNameBytes / 2)) + ".count";
  const auto is_taken = [&](const std::string& wanted) {
    return std::ranges::find(data_sizes_, wanted, &DataSize::symbol) != data_sizes_.end() ||
           std::ranges::find(graph.symbols, wanted) != graph.symbols.end();
  };
  for (int copy = 2; is_taken(symbol); ++copy) symbol = printable(name) + ".count" + std::to_string(copy);
  data_sizes_.push_back({symbol, bound, tensor_of(count)});
  return Size::symbol(symbol, true);
}

bool GraphBuilder::depends_on_data_since(const Mark& mark, const Size& size) const {
  if (data_sizes_.size() <= mark.data_sizes || size.constant()) return false;
  const auto first = data_sizes_.begin() + static_cast<std::ptrdiff_t>(mark.data_sizes);
  return std::ranges::any_of(size.symbols(), [&](const std::string& symbol) {
    return std::ranges::find(first, data_sizes_.end(), symbol, &DataSize::symbol) != data_sizes_.end();
  });
}

bool GraphBuilder::depends_on_data(const Size& size) const { return depends_on_data_since({}, size); }

bool GraphBuilder::depends_on_data(const Shape& shape) const {
  return std::ranges::any_of(shape, [&](const Size& size) { return depends_on_data(size); });
}

// Ends those of the innermost loop. Its tensors have entries of one size, which is known outside of it.
void GraphBuilder::end_data_sizes(const LoopResults& results) {
  const Mark& first = open_loops_.back();
  for (const Scanned& entry : results.entries) {
    const Shape& shape = entry.value.type.shape;
    if (std::ranges::any_of(shape, [&](const Size& size) { return depends_on_data_since(first, size); }))
      throw CompileError("expected entries of a size that is the same in all iterations, got " + to_text(shape) +
                         ", whose size depends on data");
  }
  for (std::size_t i = first.data_sizes; i < data_sizes_.size(); ++i) data_sizes_[i].has_ended = true;
}

Size GraphBuilder::bound_of(const Size& size) const {
  if (!depends_on_data(size)) return size;
  if (!grows(size.expr(), data_sizes_))
    throw CompileError("expected a size that grows with what it depends on, got " + to_text(size));
  Size bound = size;
  // The bound of one may depend on those before it.
  for (const DataSize& one : data_sizes_ | std::views::reverse) bound = substitute(bound, one.symbol, one.bound);
  return bound;
}

Value GraphBuilder::with_data_size(const Value& tensor, std::size_t dimension, const Size& size) {
  Value result = tensor;
  result.id = tensor_of(tensor);
  result.known = nullptr;
  result.constant = nullptr;
  graph.tensors.at(result.id).shape.at(dimension) = size;
  result.type.shape.at(dimension) = size;
  return result;
}

Value GraphBuilder::computed_size(const std::string& name, const ir::Expr& size) {
  if (const auto* var = size.as<ir::Var>()) {
    const auto data = std::ranges::find(data_sizes_, var->name, &DataSize::symbol);
    if (data != data_sizes_.end()) return {type_of(graph.tensor(data->count)), data->count};
  }
  const auto* binary = size.as<ir::Binary>();
  if (binary == nullptr) {
    Value value = {{DType::i64, {}}};
    const auto* number = size.as<ir::IntImm>();
    const Size own = number != nullptr ? Size(number->value) : Size::symbol(size.as<ir::Var>()->name);
    value.known = std::make_shared<Known>(Known{{own}});
    value.name = name;
    return value;
  }
  const Value left = computed_size(name, binary->left), right = computed_size(name, binary->right);
  const auto apply = [&](Operator op, const Value& a) { return add(name, op, {a, right}, {}); };
  switch (binary->op) {
    case BinaryOp::add: return apply(Operator::add, left);
    case BinaryOp::sub: return apply(Operator::sub, left);
    case BinaryOp::mul: return apply(Operator::mul, left);
    case BinaryOp::min: return apply(Operator::minimum, left);
    case BinaryOp::max: return apply(Operator::maximum, left);
    case BinaryOp::mod: return apply(Operator::modulo, left);
    // The operator rounds towards zero, and the size towards minus infinity.
    case BinaryOp::div:
      return apply(Operator::div, add(name, Operator::sub, {left, apply(Operator::modulo, left)}, {}));
    default: throw CompileError("expected a size of simple form, got " + ir::to_text(size));
  }
}

void GraphBuilder::bound_data_sizes() {
  if (data_sizes_.empty()) return;
  for (std::size_t o = 0, count = graph.outputs.size(); o < count; ++o) {
    const Shape shape = graph.tensor(graph.outputs[o]).shape;
    if (!depends_on_data(shape)) continue;
    Value sizes = {{DType::i64, {static_cast<std::int64_t>(shape.size())}}};
    sizes.known = std::make_shared<Known>(Known{shape});
    sizes.name = graph.output_names[o] + ".shape";
    graph.counted.push_back({static_cast<std::uint32_t>(o), static_cast<std::uint32_t>(graph.outputs.size())});
    graph.outputs.push_back(tensor_of(sizes));
    graph.output_names.push_back(sizes.name);
  }
  for (Node& node : graph.nodes) {
    try {
      for (const TensorId id : node.outputs)
        for (Size& size : graph.tensors[id].shape) size = bound_of(size);
      for (Size* size : sizes_in(node.attributes)) *size = bound_of(*size);
    } catch (const CompileError& error) {
      throw CompileError("node '" + printable(node.name) + "': " + error.what());
    }
  }
}

}  // namespace ferry::graph::onnx
