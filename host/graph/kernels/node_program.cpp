#include "host/graph/kernels/node_program.h"

#include "crosscompile/ir/error.h"
#include "ferry/ops/elementwise.h"
#include "ferry/ops/normalization.h"
#include "ferry/ops/reductions.h"
#include "ferry/ops/shapes.h"
#include "host/graph/kernels/families.h"

#include <map>

namespace ferry::graph {
namespace {

constexpr const char* kOutput = "y";

// The symbols of a program as its variables.
class Variables {
 public:
  lang::Expr operator()(const Size& size) {
    for (const std::string& name : size.symbols()) values_.try_emplace(name, lang::var(name));
    return substitute(size, values_);
  }
  const std::map<std::string, lang::Expr>& all() const { return values_; }

 private:
  std::map<std::string, lang::Expr> values_;
};

lang::Tensor reduction(const KernelKey& key, const lang::Tensor& x) {
  const auto& [dimensions, keep] = std::get<ReduceAttributes>(key.attributes);
  const auto reduced = [&](ir::ReduceOp op) { return ops::reduce(op, x, dimensions, kOutput, keep); };
  if (dimensions.empty()) return ops::map(x, [](const lang::Expr& value) { return value; }, kOutput);
  if (key.op == Operator::reduce_mean) return ops::mean(x, dimensions, kOutput, keep);
  if (key.op == Operator::reduce_max) return reduced(ir::ReduceOp::max);
  if (key.op == Operator::reduce_min) return reduced(ir::ReduceOp::min);
  return reduced(key.op == Operator::reduce_sum ? ir::ReduceOp::sum : ir::ReduceOp::prod);
}

lang::Tensor output_of(const KernelKey& key, const Inputs& x, const SizeExpr& size) {
  const std::string name = kOutput;
  const auto dimension = [&] { return std::get<DimensionAttributes>(key.attributes).dimension; };
  switch (key.op) {
    case Operator::conv: return convolution(std::get<ConvAttributes>(key.attributes), x, name);
    case Operator::matmul: return product(std::get<MatmulAttributes>(key.attributes), x, name);
    case Operator::max_pool:
    case Operator::average_pool: return pooling(key.op, std::get<PoolAttributes>(key.attributes), x, name);
    case Operator::reduce_sum:
    case Operator::reduce_mean:
    case Operator::reduce_max:
    case Operator::reduce_min:
    case Operator::reduce_prod: return reduction(key, x[0]);
    case Operator::softmax: return ops::softmax(x[0], dimension(), name);
    case Operator::batch_norm:
      return ops::batch_norm(x[0], x[1], x[2], x[3], x[4], name, std::get<BatchNormAttributes>(key.attributes).epsilon);
    case Operator::layer_norm:
      return ops::layer_norm(x[0], x[1], x[2], name, std::get<LayerNormAttributes>(key.attributes).epsilon);
    case Operator::broadcast: return broadcast_to(std::get<BroadcastAttributes>(key.attributes), x, size, name);
    case Operator::transpose: return ops::transpose(x[0], name, std::get<TransposeAttributes>(key.attributes).order);
    case Operator::slice: return sliced(std::get<SliceAttributes>(key.attributes), x, size, name);
    case Operator::pad: return padded(std::get<PadAttributes>(key.attributes), x, size, name);
    case Operator::concat: return ops::concat(x, dimension(), name);
    case Operator::gather: return gathered(std::get<DimensionAttributes>(key.attributes), x, name);
    case Operator::cast: return ops::cast(x[0], std::get<CastAttributes>(key.attributes).to, name);
    case Operator::where: return choice(x, name);
#define FERRY_CASE(function, inputs, attributes) \
  case Operator::function: return elementwise(Unary::function, x, name);
      FERRY_GRAPH_UNARY(FERRY_CASE)
#undef FERRY_CASE
#define FERRY_CASE(function, inputs, attributes) \
  case Operator::function: return elementwise(Binary::function, x, name);
      FERRY_GRAPH_BINARY(FERRY_CASE)
#undef FERRY_CASE
    case Operator::reshape: break;
  }
  throw InternalError(std::string("expected an operator with a kernel, got ") + operator_name(key.op));
}

}  // namespace

lang::Program node_program(const KernelKey& key, const std::string& name) {
  Variables variables;
  std::vector<lang::Parameter> parameters;
  std::map<std::string, lang::Expr> dimensions;
  Inputs inputs;
  for (std::size_t i = 0; i < key.inputs.size(); ++i) {
    const KernelInput& input = key.inputs[i];
    inputs.emplace_back();
    if (!input.is_given) continue;
    std::vector<lang::Expr> shape;
    for (const Size& size : input.shape) shape.push_back(variables(size));
    inputs.back() = lang::placeholder(std::move(shape), input.dtype, "x" + std::to_string(i));
    parameters.push_back(input.is_constant ? lang::constant(inputs.back()) : lang::in(inputs.back()));
  }
  dimensions = variables.all();
  parameters.push_back(lang::out(output_of(key, inputs, std::ref(variables))));
  for (const auto& [symbol, variable] : variables.all())
    if (!dimensions.contains(symbol)) parameters.push_back(lang::scalar(variable));
  return lang::make_program(name, std::move(parameters));
}

}  // namespace ferry::graph
