#include "host/graph/kernels/group_program.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/ops/blocked.h"
#include "ferry/ops/elementwise.h"
#include "host/graph/kernels/anchor_tensor.h"
#include "host/graph/kernels/quantizing.h"
#include "host/graph/operator_kind.h"
#include "host/lang/library.h"
#include "host/ops/softmax_parts.h"

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
    add_deviations();
    if (std::ranges::any_of(key_.nodes, has_scaled_products)) add_factors();
    if (key_.channel_block > 1)
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        if (is_for_channels(i)) in_blocks_[i] = in_blocks(inputs_[i]);
    const std::size_t last = key_.nodes.size() - 1;
    for (std::size_t n = 0; n <= last; ++n) {
      const KernelNode& node = key_.nodes[n];
      if (kind_of(node.op) == OperatorKind::elementwise) continue;
      if (is_scaled_later(n)) continue;
      Inputs inputs;
      if (const auto softmax = softmax_of(n)) {
        const ops::SoftmaxParts parts = parts_of(*softmax);
        inputs.push_back(parts.raised);
        inverses_[n] = parts.inverse;
      }
      while (inputs.size() < node.operands.size()) inputs.push_back(operand_tensor(node.operands[inputs.size()]));
      const bool is_all = n == last && !has_bias(node) && !has_integer_sums(node) && !inverses_.contains(n);
      anchors_[n] = anchor_tensor(node, inputs, is_all ? kOutput : name_of(n));
      if (is_all) return anchors_[n];
    }
    return elements(last, kOutput);
  }

  // Returns the softmax whose result a product that fuses its rows reads as these. The product's rows are then
  // multiplied by the inverses of the sums instead of the weights, which are more.
  std::optional<std::size_t> softmax_of(std::size_t n) const {
    const auto* matmul = std::get_if<MatmulAttributes>(&key_.nodes[n].attributes);
    if (matmul == nullptr || !matmul->fuses_rows || key_.nodes[n].op != Operator::matmul) return std::nullopt;
    const KernelOperand& rows = key_.nodes[n].operands[0];
    if (rows.kind != KernelOperand::Kind::node || key_.nodes[rows.index].op != Operator::softmax) return std::nullopt;
    return rows.index;
  }

  // Whether a node is such a softmax, which is computed with the product.
  bool is_scaled_later(std::size_t n) const {
    for (std::size_t product = n + 1; product < key_.nodes.size(); ++product)
      if (softmax_of(product) == n) return true;
    return false;
  }

  ops::SoftmaxParts parts_of(std::size_t n) {
    const KernelNode& node = key_.nodes[n];
    return ops::softmax_parts(operand_tensor(node.operands[0]),
                              std::get<DimensionAttributes>(node.attributes).dimension, name_of(n));
  }

  // Returns the operator's name, with the node's number if another node before it has the same operator.
  std::string name_of(std::size_t n) const {
    const Operator op = key_.nodes[n].op;
    const bool is_first = std::none_of(key_.nodes.begin(), key_.nodes.begin() + static_cast<std::ptrdiff_t>(n),
                                       [&](const KernelNode& other) { return other.op == op; });
    return operator_name(op) + (is_first ? std::string() : std::to_string(n));
  }

  // Returns what a node that is not elementwise reads.
  lang::Tensor operand_tensor(const KernelOperand& operand) {
    if (operand.kind == KernelOperand::Kind::none) return {};
    if (operand.kind == KernelOperand::Kind::input) return inputs_[operand.index];
    const auto anchor = anchors_.find(operand.index);
    return anchor != anchors_.end() && !has_bias(key_.nodes[operand.index])
               ? anchor->second
               : elements(operand.index, name_of(operand.index));
  }

  lang::Tensor anchor_tensor(const KernelNode& anchor, const Inputs& inputs, const std::string& name) {
    if (key_.channel_block > 1) return blocked_tensor_of(anchor, inputs, key_.channel_block, name);
    if (anchor.op == Operator::convert)
      return ops::from_blocked(inputs[0], variables_(key_.inputs[anchor.operands[0].index].channels), name);
    return tensor_of(anchor, inputs, std::ref(variables_), name);
  }

  // Returns the nodes that a node's element is computed from: elementwise ones, and the one that is not.
  std::vector<bool> members_of(std::size_t node) const {
    std::vector<bool> is_member(key_.nodes.size(), false);
    is_member[node] = true;
    for (std::size_t n = node + 1; n-- > 0;) {
      if (!is_member[n] || kind_of(key_.nodes[n].op) != OperatorKind::elementwise) continue;
      for (const KernelOperand& operand : key_.nodes[n].operands)
        if (operand.kind == KernelOperand::Kind::node) is_member[operand.index] = true;
    }
    return is_member;
  }

  // Returns the result of a node as an expression of the inputs that broadcast, and of what the node computes that is
  // not elementwise.
  lang::Tensor elements(std::size_t node, const std::string& name) {
    const std::vector<bool> is_member = members_of(node);
    const auto anchor = std::ranges::find_if(anchors_, [&](const auto& one) { return is_member[one.first]; });
    return lang::library::compute(
        anchor == anchors_.end() ? result_shape() : anchor->second.shape(),
        [&](const std::vector<Expr>& i) {
          std::vector<Expr> values(node + 1);
          for (std::size_t n = 0; n <= node; ++n)
            if (is_member[n]) values[n] = value_of(n, i, values);
          return values.back();
        },
        name);
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

  Expr value_of(std::size_t index, const std::vector<Expr>& i, const std::vector<Expr>& values) const {
    const KernelNode& node = key_.nodes[index];
    const auto operand = [&](std::size_t o) {
      const KernelOperand& one = node.operands[o];
      return one.kind == KernelOperand::Kind::node ? values[one.index] : element(one.index, i);
    };
    if (has_integer_sums(node)) return ir::cast(DType::f32, anchors_.at(index)(i)) * factors_.at(index)(i);
    if (const auto factor = factors_.find(index); factor != factors_.end())
      return quotient(index, factor->second(i), i, values);
    if (const auto inverse = inverses_.find(index); inverse != inverses_.end()) {
      std::vector<Expr> row = i;
      row.back() = Expr(0);
      return anchors_.at(index)(i) * inverse->second(row);
    }
    if (kind_of(node.op) != OperatorKind::elementwise)
      return has_bias(node) ? anchors_.at(index)(i) + operand(2) : anchors_.at(index)(i);
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
  Expr quotient(std::size_t division, const Expr& inverse, const std::vector<Expr>& i,
                const std::vector<Expr>& values) const {
    const KernelOperand& dividend = key_.nodes[division].operands[0];
    if (dividend.kind == KernelOperand::Kind::input) return element(dividend.index, i) * inverse;
    const KernelNode& node = key_.nodes[dividend.index];
    const auto is_sums = [&](const KernelOperand& one) {
      return one.kind == KernelOperand::Kind::node && has_integer_sums(key_.nodes[one.index]);
    };
    const auto scaled = [&](std::size_t sums) {
      return ir::cast(DType::f32, anchors_.at(sums)(i)) * finite(factors_.at(sums)(i) * inverse);
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
  std::map<std::size_t, lang::Tensor> anchors_;     // what nodes compute that is not elementwise, by node
  std::map<std::size_t, lang::Tensor> inverses_;    // by which the rows of products are scaled, by node
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
