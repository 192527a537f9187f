#include "host/graph/kernels/group_program.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/ops/blocked.h"
#include "ferry/ops/elementwise.h"
#include "ferry/ops/indexing.h"
#include "ferry/ops/normalization.h"
#include "ferry/ops/reductions.h"
#include "ferry/ops/scans.h"
#include "ferry/ops/shapes.h"
#include "ferry/ops/sorting.h"
#include "host/graph/kernels/families.h"
#include "host/graph/kernels/quantizing.h"
#include "host/graph/operator_kind.h"
#include "host/lang/library.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>

namespace ferry::graph {
namespace {

using lang::Expr;

constexpr const char* kOutput = "y";

// The symbols of a program as its variables, or as the numbers that are fixed for n0, n1, ...
class Variables {
 public:
  explicit Variables(const std::vector<std::int64_t>& fixed) {
    for (std::size_t s = 0; s < fixed.size(); ++s) values_.emplace(symbol_name(s), Expr(fixed[s]));
  }

  Expr operator()(const Size& size) {
    for (const std::string& name : size.symbols()) values_.try_emplace(name, lang::var(name));
    return substitute(size, values_);
  }
  const std::map<std::string, Expr>& all() const { return values_; }

 private:
  std::map<std::string, Expr> values_;
};

lang::Tensor reduction(const KernelNode& node, const lang::Tensor& x, const std::string& name) {
  const auto& [dimensions, keep] = std::get<ReduceAttributes>(node.attributes);
  const auto reduced = [&](ir::ReduceOp op) { return ops::reduce(op, x, dimensions, name, keep); };
  if (dimensions.empty()) return ops::map(x, [](const Expr& value) { return value; }, name);
  if (node.op == Operator::reduce_mean) return ops::mean(x, dimensions, name, keep);
  if (node.op == Operator::reduce_max) return reduced(ir::ReduceOp::max);
  if (node.op == Operator::reduce_min) return reduced(ir::ReduceOp::min);
  return reduced(node.op == Operator::reduce_sum ? ir::ReduceOp::sum : ir::ReduceOp::prod);
}

lang::Tensor place_of(const KernelNode& node, const lang::Tensor& x, const std::string& name) {
  const auto& [dimensions, keep] = std::get<ReduceAttributes>(node.attributes);
  return node.op == Operator::arg_max ? ops::argmax(x, dimensions, name, keep) : ops::argmin(x, dimensions, name, keep);
}

// Returns the result of a node that is not elementwise. The bias of a convolution is not added.
lang::Tensor tensor_of(const KernelNode& node, const Inputs& x, const SizeExpr& size, const std::string& name) {
  const auto dimension = [&] { return std::get<DimensionAttributes>(node.attributes).dimension; };
  switch (node.op) {
    case Operator::conv: return convolution(std::get<ConvAttributes>(node.attributes), x, name);
    case Operator::matmul: return product(std::get<MatmulAttributes>(node.attributes), x, name);
    case Operator::quantized_conv:
      return quantized_convolution(std::get<QuantizedConvAttributes>(node.attributes), x, name);
    case Operator::quantized_matmul:
      return quantized_product(std::get<QuantizedMatmulAttributes>(node.attributes), x, name);
    case Operator::packed_matmul: return packed_product(std::get<PackedMatmulAttributes>(node.attributes), x, name);
    case Operator::max_pool:
    case Operator::average_pool: return pooling(node.op, std::get<PoolAttributes>(node.attributes), x, name);
    case Operator::reduce_sum:
    case Operator::reduce_mean:
    case Operator::reduce_max:
    case Operator::reduce_min:
    case Operator::reduce_prod: return reduction(node, x[0], name);
    case Operator::softmax: return ops::softmax(x[0], dimension(), name);
    case Operator::layer_norm:
      return ops::layer_norm(x[0], x[1], x[2], name, std::get<LayerNormAttributes>(node.attributes).epsilon);
    case Operator::broadcast: return broadcast_to(std::get<BroadcastAttributes>(node.attributes), x, size, name);
    case Operator::transpose: return ops::transpose(x[0], name, std::get<TransposeAttributes>(node.attributes).order);
    case Operator::slice: return sliced(std::get<SliceAttributes>(node.attributes), x, size, name);
    case Operator::pad: return padded(std::get<PadAttributes>(node.attributes), x, size, name);
    case Operator::concat: return ops::concat(x, dimension(), name);
    case Operator::gather: return gathered(std::get<DimensionAttributes>(node.attributes), x, name);
    case Operator::gather_elements: return ops::gather_elements(x[0], x[1], dimension(), name);
    case Operator::scatter: return scattered(std::get<ScatterAttributes>(node.attributes), x, name);
    case Operator::arg_max:
    case Operator::arg_min: return place_of(node, x[0], name);
    case Operator::sort_rank: {
      const auto& sort = std::get<SortAttributes>(node.attributes);
      return ops::sort_rank(x[0], sort.dimension, sort.descending, name);
    }
    case Operator::top_k: {
      const auto& [count, largest] = std::get<TopKAttributes>(node.attributes);
      return ops::top_k(x[0], count, largest, name);
    }
    case Operator::cumulative_sum:
    case Operator::cumulative_prod: {
      const auto& [axis, exclusive, backwards] = std::get<CumulativeAttributes>(node.attributes);
      const bool is_sum = node.op == Operator::cumulative_sum;
      return is_sum ? ops::cumulative_sum(x[0], axis, exclusive, backwards, name)
                    : ops::cumulative_prod(x[0], axis, exclusive, backwards, name);
    }
    case Operator::iota: return counting(std::get<IotaAttributes>(node.attributes), size, name);
    case Operator::sizes: return listed(std::get<SizesAttributes>(node.attributes), size, name);
#define FERRY_CASE(function, inputs, attributes) case Operator::function:
      FERRY_GRAPH_UNARY(FERRY_CASE)
      FERRY_GRAPH_BINARY(FERRY_CASE)
#undef FERRY_CASE
    case Operator::convert:
    case Operator::where:
    case Operator::cast:
    case Operator::batch_norm:
    case Operator::reshape:
    case Operator::loop:
    case Operator::end_loop: break;
  }
  throw InternalError(std::string("tensor_of: unexpected operator ") + operator_name(node.op));
}

// The same for a result with its channels in blocks of `lanes`.
lang::Tensor blocked_tensor_of(const KernelNode& node, const Inputs& x, std::int64_t lanes, const std::string& name) {
  if (const auto* conv = std::get_if<ConvAttributes>(&node.attributes))
    return blocked_convolution(*conv, x, lanes, name);
  if (const auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes))
    return blocked_quantized_convolution(*conv, x, lanes, name);
  if (const auto* pool = std::get_if<PoolAttributes>(&node.attributes)) return blocked_pooling(node.op, *pool, x, name);
  if (node.op == Operator::convert) return ops::to_blocked(x[0], lanes, name);
  if (node.op == Operator::concat) return ops::concat(x, 1, name);
  if (node.op == Operator::reduce_mean || node.op == Operator::reduce_max)
    return blocked_reduction(node.op, x[0], name);
  throw InternalError(std::string("blocked_tensor_of: unexpected operator ") + operator_name(node.op));
}

class ProgramMaker {
 public:
  ProgramMaker(const KernelKey& key, const std::string& name, const std::vector<std::int64_t>& sizes = {})
      : key_(key), name_(name), variables_(sizes) {}

  lang::Program run() {
    add_inputs();
    const std::map<std::string, Expr> dimensions = variables_.all();
    const lang::Tensor result = output();
    if (result.dtype() != key_.result)
      throw InternalError("group_program: expected a result of " + std::string(dtype_name(key_.result)) + ", got " +
                          dtype_name(result.dtype()) + " from " + operator_name(key_.nodes.back().op));
    parameters_.push_back(key_.updated ? lang::inout(inputs_[*key_.updated], result) : lang::out(result));
    for (const auto& [symbol, variable] : variables_.all())
      if (!dimensions.contains(symbol)) parameters_.push_back(lang::scalar(variable));
    return lang::make_program(name_, std::move(parameters_));
  }

  bool has_shape_of(std::size_t input) {
    add_inputs();
    const lang::Tensor result = output();
    const auto is_equal = [](const Expr& a, const Expr& b) { return ir::equal(a, b); };
    return std::ranges::equal(result.shape(), inputs_[input].shape(), is_equal);
  }

 private:
  void add_inputs() {
    for (std::size_t i = 0; i < key_.inputs.size(); ++i) {
      const KernelInput& input = key_.inputs[i];
      std::vector<Expr> shape;
      for (const Size& size : input.shape) shape.push_back(variables_(size));
      inputs_.push_back(lang::placeholder(std::move(shape), input.dtype, "x" + std::to_string(i)));
      if (key_.updated == i) continue;
      parameters_.push_back(input.is_constant ? lang::constant(inputs_.back()) : lang::in(inputs_.back()));
    }
  }

  // Whether a convolution has a bias, which is added with the elementwise nodes.
  static bool has_bias(const KernelNode& node) {
    return node.op == Operator::conv && node.operands.size() > 2 && node.operands[2].kind != KernelOperand::Kind::none;
  }

  static bool has_scaled_products(const KernelNode& node) {
    const auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes);
    const auto* matmul = std::get_if<QuantizedMatmulAttributes>(&node.attributes);
    return (conv != nullptr && conv->is_scaled) || (matmul != nullptr && matmul->is_scaled);
  }

  // Whether a node computes sums of integers that are scaled with the elementwise nodes.
  static bool has_integer_sums(const KernelNode& node) {
    if (!has_scaled_products(node)) return false;
    const auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes);
    return conv != nullptr ? conv->in_integers : std::get<QuantizedMatmulAttributes>(node.attributes).in_integers;
  }

  lang::Tensor output() {
    const auto anchor = std::ranges::find_if(
        key_.nodes, [](const KernelNode& node) { return kind_of(node.op) != OperatorKind::elementwise; });
    if (anchor == key_.nodes.end()) return elements({});
    const bool is_all = key_.nodes.size() == 1 && !has_bias(*anchor) && !has_integer_sums(*anchor);
    Inputs inputs;
    for (const KernelOperand& operand : anchor->operands)
      inputs.push_back(operand.kind == KernelOperand::Kind::input ? inputs_[operand.index] : lang::Tensor());
    const lang::Tensor tensor = anchor_tensor(*anchor, inputs, is_all ? kOutput : operator_name(anchor->op));
    return is_all ? tensor : elements(tensor);
  }

  lang::Tensor anchor_tensor(const KernelNode& anchor, const Inputs& inputs, const std::string& name) {
    if (key_.channel_block > 1) return blocked_tensor_of(anchor, inputs, key_.channel_block, name);
    if (anchor.op == Operator::convert)
      return ops::from_blocked(inputs[0], variables_(key_.inputs[anchor.operands[0].index].channels), name);
    return tensor_of(anchor, inputs, std::ref(variables_), name);
  }

  // Returns the output as an expression of the inputs that broadcast, and of what the node computes that is not
  // elementwise.
  lang::Tensor elements(const lang::Tensor& anchor) {
    add_deviations();
    if (std::ranges::any_of(key_.nodes, has_scaled_products)) add_factors();
    if (key_.channel_block > 1)
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        if (is_for_channels(i)) in_blocks_[i] = in_blocks(inputs_[i]);
    return lang::library::compute(
        anchor.buffer() != nullptr ? anchor.shape() : result_shape(),
        [&](const std::vector<Expr>& i) {
          std::vector<Expr> values;
          for (std::size_t node = 0; node < key_.nodes.size(); ++node)
            values.push_back(value_of(node, anchor, i, values));
          return values.back();
        },
        kOutput);
  }

  std::vector<Expr> result_shape() const {
    std::vector<Expr> shape;
    for (const lang::Tensor& input : inputs_)
      if (key_.channel_block == 1 || input.rank() == 5)
        shape = ops::broadcast_shape(input, lang::placeholder(shape, input.dtype(), "result"), kOutput);
    return shape;
  }

  // The divisors of batch normalisations depend on constants alone, as stages of their own, and so are computed once.
  void add_deviations() {
    for (std::size_t node = 0; node < key_.nodes.size(); ++node) {
      if (key_.nodes[node].op != Operator::batch_norm) continue;
      const double epsilon = std::get<BatchNormAttributes>(key_.nodes[node].attributes).epsilon;
      const lang::Tensor deviation = ops::map(
          inputs_[key_.nodes[node].operands[4].index],
          [&](const Expr& variance) {
            return ir::call_math("sqrt", {variance + ir::constant(variance.type(), epsilon)});
          },
          "deviation" + std::to_string(node));
      deviations_[node] = key_.channel_block > 1 ? in_blocks(deviation) : deviation;
    }
  }

  // The scales of sums of integers, and the inverses of those that quantize products, are computed once as well.
  // Multiplying by an inverse instead of dividing rounds differently, as do products in another order.
  void add_factors() {
    for (std::size_t node = 0; node < key_.nodes.size(); ++node) {
      const std::vector<KernelOperand>& operands = key_.nodes[node].operands;
      const std::string number = std::to_string(node);
      if (has_integer_sums(key_.nodes[node])) {
        const lang::Tensor& scale = inputs_[operands[2].index];
        const std::vector<Expr> first(scale.rank(), Expr(0));
        factors_[node] = broadcasting(
            operands[3].index, [&](const Expr& filter) { return scale(first) * filter; }, "scale" + number);
      } else if (is_quantizing(key_, node)) {
        const Expr one = ir::constant(DType::f32, 1.0);
        factors_[node] =
            broadcasting(operands[1].index, [&](const Expr& scale) { return finite(one / scale); }, "inverse" + number);
      }
    }
  }

  // Limits a factor, so that 0 times it is 0.
  static Expr finite(const Expr& factor) {
    return ir::min(factor, ir::constant(DType::f32, double{std::numeric_limits<float>::max()}));
  }

  // Returns a function of the elements of a constant input, which broadcast to the output as the input does.
  std::function<Expr(const std::vector<Expr>&)> broadcasting(std::size_t input,
                                                             const std::function<Expr(Expr)>& function,
                                                             const std::string& name) const {
    const lang::Tensor all = ops::map(inputs_[input], function, name);
    if (key_.channel_block == 1) return [all](const std::vector<Expr>& i) { return element_of(all, i); };
    if (!is_for_channels(input))
      return [all](const std::vector<Expr>& i) { return element_of(all, {i[0], Expr(0), i[2], i[3]}); };
    return [blocked = in_blocks(all)](const std::vector<Expr>& i) { return element_of(blocked, i); };
  }

  // Whether an input has one element for each channel of an output with these in blocks.
  bool is_for_channels(std::size_t input) const {
    const KernelInput& one = key_.inputs[input];
    return !one.blocked && one.shape.size() == 4 && one.shape[1].constant() != 1 && one.shape[2].constant() == 1 &&
           one.shape[3].constant() == 1 && one.shape[0].constant() == 1;
  }

  // Returns elements for each channel, [1, C, 1, 1], in the blocks that channels are in. Constants are so before calls.
  lang::Tensor in_blocks(const lang::Tensor& x) const {
    return ops::to_blocked(x, key_.channel_block, x.name() + ".blocked");
  }

  // Returns the element of an input that broadcasts to these indices of the output.
  Expr element(std::size_t input, const std::vector<Expr>& i) const {
    if (key_.updated == input) return inputs_[input](i);
    const auto blocked = in_blocks_.find(input);
    if (blocked != in_blocks_.end()) return element_of(blocked->second, i);
    if (key_.channel_block == 1 || key_.inputs[input].blocked) return element_of(inputs_[input], i);
    return element_of(inputs_[input], {i[0], Expr(0), i[2], i[3]});
  }

  Expr value_of(std::size_t index, const lang::Tensor& anchor, const std::vector<Expr>& i,
                const std::vector<Expr>& values) const {
    const KernelNode& node = key_.nodes[index];
    const auto operand = [&](std::size_t o) {
      const KernelOperand& one = node.operands[o];
      return one.kind == KernelOperand::Kind::node ? values[one.index] : element(one.index, i);
    };
    if (has_integer_sums(node)) return ir::cast(DType::f32, anchor(i)) * factors_.at(index)(i);
    if (const auto factor = factors_.find(index); factor != factors_.end())
      return quotient(index, factor->second(i), anchor, i, values);
    if (kind_of(node.op) != OperatorKind::elementwise) return has_bias(node) ? anchor(i) + operand(2) : anchor(i);
    if (node.op == Operator::where) return ir::select(operand(0), operand(1), operand(2));
    if (node.op == Operator::cast) {
      const DType to = std::get<CastAttributes>(node.attributes).to;
      if (const auto rounded = quantized_by(key_, node); rounded && factors_.contains(rounded->quotient))
        return rounded_byte(to, values[rounded->quotient], rounded->zero ? element(*rounded->zero, i) : Expr());
      return ir::cast(to, operand(0));
    }
    if (node.op == Operator::batch_norm)
      return (operand(0) - operand(3)) / element_of(deviations_.at(index), i) * operand(1) + operand(2);
    if (const auto unary = unary_of(node.op)) return elementwise(*unary, operand(0));
    if (const auto binary = binary_of(node.op)) return elementwise(*binary, operand(0), operand(1));
    throw InternalError(std::string("value_of: unexpected operator ") + operator_name(node.op));
  }

  // Returns what is divided times the inverse. Scaled sums and their bias are multiplied by it apart, because their
  // factors are the same for many pixels.
  Expr quotient(std::size_t division, const Expr& inverse, const lang::Tensor& anchor, const std::vector<Expr>& i,
                const std::vector<Expr>& values) const {
    const KernelOperand& dividend = key_.nodes[division].operands[0];
    if (dividend.kind == KernelOperand::Kind::input) return element(dividend.index, i) * inverse;
    const KernelNode& node = key_.nodes[dividend.index];
    const auto is_sums = [&](const KernelOperand& one) {
      return one.kind == KernelOperand::Kind::node && has_integer_sums(key_.nodes[one.index]);
    };
    const auto scaled = [&](std::size_t sums) {
      return ir::cast(DType::f32, anchor(i)) * finite(factors_.at(sums)(i) * inverse);
    };
    if (is_sums(dividend)) return scaled(dividend.index);
    for (const std::size_t o : {0U, 1U}) {
      if (node.op != Operator::add || !is_sums(node.operands[o])) continue;
      const KernelOperand& bias = node.operands[1 - o];
      if (bias.kind == KernelOperand::Kind::input)
        return scaled(node.operands[o].index) + element(bias.index, i) * inverse;
    }
    return values[dividend.index] * inverse;
  }

  const KernelKey& key_;
  const std::string& name_;
  Variables variables_;
  std::vector<lang::Parameter> parameters_;
  Inputs inputs_;
  std::map<std::size_t, lang::Tensor> deviations_;  // those of batch normalisations, by node
  // Factors of sums of integers and, instead of divisors, of what is quantized, by node.
  std::map<std::size_t, std::function<Expr(const std::vector<Expr>&)>> factors_;
  std::map<std::size_t, lang::Tensor> in_blocks_;  // inputs with one element for each channel
};

}  // namespace

lang::Program group_program(const KernelKey& key, const std::string& name, const std::vector<std::int64_t>& sizes) {
  return ProgramMaker(key, name, sizes).run();
}

bool has_shape_of(const KernelKey& key, std::size_t input) { return ProgramMaker(key, "shape").has_shape_of(input); }

}  // namespace ferry::graph
