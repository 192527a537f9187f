// Operators of language models that carry a state from call to call: caches, causal convolutions and linear attention.
#include <cmath>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// Each step has some ten nodes.
constexpr std::int64_t kMaxTokens = 1024;

// [batch, sequence, heads * size] as [batch, heads, sequence, size].
Value unpacked(const NodeImport& node, const NodeOps& of, const Value& x, std::int64_t heads) {
  const Shape& shape = x.type.shape;
  const std::optional<Size> size = shape.size() == 3 ? divide_exactly(shape[2], heads) : std::nullopt;
  node.expect(size.has_value(), "tensors of rank 3 whose last dimension the heads divide",
              [&] { return to_text(shape) + " for " + std::to_string(heads); });
  return of.transpose(of.reshape(x, {shape[0], shape[1], heads, *size}), {0, 2, 1, 3});
}

}  // namespace

// Writes a sequence into a cache, from an index on that may differ for each entry of the batch.
void import_tensor_scatter(NodeImport& node) {
  const NodeOps of(node);
  const Value &cache = node.input(0), &update = node.input(1);
  const std::size_t rank = cache.type.shape.size(), d = node.dimension(node.integer("axis", -2), rank);
  const std::string mode = node.text("mode", "linear");
  node.expect(mode == "linear" || mode == "circular", "the mode linear or circular", [&] { return mode; });
  node.expect(d > 0 && update.type.shape.size() == rank,
              "a cache and an update of one rank, along another axis than the batch",
              [&] { return to_text(update.type.shape) + " for " + to_text(cache.type.shape); });
  Value index = of.iota(update.type.shape[d], d, rank);
  if (node.has_input(2)) {
    Shape batch(rank, 1);
    batch[0] = element_count(node.shape(2));
    index = of.add(of.reshape(node.cast(node.input(2), DType::i64), batch), index);
  }
  if (mode == "circular") index = of.modulo(index, node.known({DType::i64, {}}, Known{{cache.type.shape[d]}, {}}));
  node.output(0, of.scatter(cache, index, update, {d, ScatterMode::replace}));
}

// A depthwise convolution over the state of the last call and the input.
void import_causal_conv(NodeImport& node) {
  const NodeOps of(node);
  const Value &x = node.input(0), &w = node.input(1);
  const Shape &shape = x.type.shape, &filter = w.type.shape;
  node.expect(
      shape.size() == 3 && filter.size() == 3 && filter[2].constant().has_value() && shape[1].constant().has_value(),
      "an input and a filter of rank 3, with known channels and taps",
      [&] { return to_text(shape) + " and " + to_text(filter); });
  const std::int64_t taps = *filter[2].constant();
  const Value padded = node.has_input(3) ? of.concat({node.input(3), x}, 2) : of.pad(x, 2, taps - 1, 0);
  std::vector<Value> inputs = {of.widened(padded), of.widened(w)};
  if (node.has_input(2)) inputs.push_back(of.widened(node.input(2)));
  Value y = node.add(Operator::conv, inputs, ConvAttributes{{{taps, 1, 1, 0, 0}}, *shape[1].constant()});
  const std::string activation = node.text("activation", "none");
  node.expect(activation == "none" || activation == "silu" || activation == "swish",
              "the activation none, silu or swish", [&] { return activation; });
  if (activation != "none") y = of.mul(y, of.sigmoid(y));
  node.output(0, node.cast(y, x.type.dtype));
  node.output(1, of.slice(padded, 2, padded.type.shape[2] - (taps - 1), taps - 1));
}

// S = exp(g) * S + k * v^T for each token, with v corrected by what S has for k already, and the output q^T * S.
void import_linear_attention(NodeImport& node) {
  const NodeOps of(node);
  node.ignore({"chunk_size"});  // changes no result
  const std::string rule = node.text("update_rule", "gated_delta");
  const bool is_gated = rule == "gated" || rule == "gated_delta", corrects = rule == "delta" || rule == "gated_delta";
  node.expect(is_gated || corrects || rule == "linear", "the update_rule linear, gated, delta or gated_delta",
              [&] { return rule; });
  const std::int64_t heads = node.integer("q_num_heads"), shared_heads = node.integer("kv_num_heads");
  node.expect(heads > 0 && shared_heads > 0 && heads % shared_heads == 0, "query heads that those of the keys divide",
              [&] { return std::to_string(heads) + " and " + std::to_string(shared_heads); });
  const DType dtype = node.input(0).type.dtype;
  Value q = unpacked(node, of, of.widened(node.input(0)), heads);
  const Value k = unpacked(node, of, of.widened(node.input(1)), shared_heads),
              v = unpacked(node, of, of.widened(node.input(2)), shared_heads);
  const Size batch = q.type.shape[0], depth = k.type.shape[3], width = v.type.shape[3];
  const std::optional<std::int64_t> tokens = q.type.shape[2].constant(), size = q.type.shape[3].constant();
  node.expect(tokens && *tokens > 0 && *tokens <= kMaxTokens && size && *size > 0,
              "a known number of tokens, up to " + std::to_string(kMaxTokens) + ", and heads of known size",
              [&] { return to_text(q.type.shape); });
  const double scale = node.real("scale", 0);
  q = of.mul(q, scale == 0 ? 1 / std::sqrt(static_cast<double>(*size)) : scale);
  // Query heads that share a state are rows of one product.
  q = of.reshape(q, {batch, shared_heads, heads / shared_heads, *tokens, depth});
  std::optional<Value> decay, beta;
  if (is_gated) {
    const Value& given = node.input(4);
    node.expect(given.type.shape.size() == 3, "a decay of rank 3", [&] { return to_text(given.type); });
    decay = of.exp(unpacked(node, of, of.widened(given), shared_heads));
  }
  if (corrects) {
    const Value& given = node.input(5);
    node.expect(given.type.shape.size() == 3 && given.type.shape[2].constant().has_value() &&
                    *given.type.shape[2].constant() > 0,
                "a beta of rank 3", [&] { return to_text(given.type); });
    beta = unpacked(node, of, of.widened(given), *given.type.shape[2].constant());
  }
  const DType state_type = node.has_input(3) ? node.input(3).type.dtype : dtype;
  Value state =
      node.has_input(3) ? of.widened(node.input(3)) : of.filled({q.type.dtype, {batch, shared_heads, depth, width}}, 0);
  std::vector<Value> outputs;
  for (std::int64_t t = 0; t < *tokens; ++t) {
    // Keys and decay as columns [.., depth, 1], values as rows [.., 1, width].
    const auto column = [&](const Value& x) { return of.transpose(of.slice(x, 2, t, 1), {0, 1, 3, 2}); };
    const Value key = of.slice(k, 2, t, 1);
    if (decay) state = of.mul(state, column(*decay));
    Value value = of.slice(v, 2, t, 1);
    if (beta) value = of.mul(of.slice(*beta, 2, t, 1), of.sub(value, of.matmul(key, state)));
    state = of.add(state, of.mul(column(k), value));
    const Value query = of.reshape(of.slice(q, 3, t, 1), {batch, shared_heads, heads / shared_heads, depth});
    outputs.push_back(of.reshape(of.matmul(query, state), {batch, 1, width * heads}));
  }
  node.output(0, node.cast(of.concat(outputs, 1), dtype));
  node.output(1, node.cast(state, state_type));
}

}  // namespace ferry::graph::onnx
