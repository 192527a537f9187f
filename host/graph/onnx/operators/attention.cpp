// Attention, with heads in a dimension of their own: [batch, heads, sequence, size].
#include "host/graph/onnx/operators/attention.h"

#include <cmath>
#include <limits>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {

std::int64_t read_heads(NodeImport& node, const char* name) {
  const std::int64_t heads = node.integer(name, 0);
  node.expect(heads > 0, std::string("a positive ") + name, [&] { return std::to_string(heads); });
  return heads;
}

Value split_heads(const NodeImport& node, const Value& x, std::int64_t heads) {
  const NodeOps of(node);
  const Shape& shape = x.type.shape;
  node.expect(shape.size() == 3, "tensors of rank 3 or 4", [&] { return to_text(shape); });
  const std::optional<Size> size = divide_exactly(shape[2], heads);
  node.expect(size.has_value(), "heads that divide the last dimension",
              [&] { return std::to_string(heads) + " for " + to_text(shape); });
  return of.transpose(of.reshape(x, {shape[0], shape[1], heads, *size}), {0, 2, 1, 3});
}

Value with_heads(NodeImport& node, const Value& x, const char* heads_name) {
  return x.type.shape.size() == 4 ? x : split_heads(node, x, read_heads(node, heads_name));
}

Value without_heads(const NodeImport& node, const Value& x) {
  const NodeOps of(node);
  const Shape& shape = x.type.shape;
  return of.reshape(of.transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

Value product_per_head(const NodeImport& node, const Value& a, const Value& b, bool transposed_b) {
  const NodeOps of(node);
  const Shape &shape = a.type.shape, &other = b.type.shape;
  const std::optional<Size> shared = divide_exactly(shape[1], other[1]);
  node.expect(shared.has_value(), "a number of query heads that those of the keys divide",
              [&] { return to_text(shape) + " and " + to_text(other); });
  const Value rows = of.reshape(a, {shape[0], other[1], *shared * shape[2], shape[3]});
  const Value product = of.matmul(rows, b, {false, transposed_b});
  return of.reshape(product, {shape[0], shape[1], shape[2], product.type.shape[3]});
}

double scale_of_heads(const NodeImport& node, const Value& q) {
  const std::optional<std::int64_t> size = q.type.shape[3].constant();
  node.expect(size && *size > 0, "heads of known size, or a scale", [&] { return to_text(q.type.shape); });
  return 1 / std::sqrt(static_cast<double>(*size));
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Attention {
 public:
  explicit Attention(NodeImport& node) : node_(node), of_(node) {}

  void run() {
    const Value q = with_heads(node_, node_.input(0), "q_num_heads");
    Value k = with_heads(node_, node_.input(1), "kv_num_heads");
    Value v = with_heads(node_, node_.input(2), "kv_num_heads");
    for (const Value& value : {q, k, v}) {
      node_.expect(value.type.shape.size() == 4, "tensors of one rank", [&] { return to_text(value.type); });
      node_.expect(is_float(value.type.dtype), "queries, keys and values of floats",
                   [&] { return to_text(value.type); });
    }
    node_.ignore({"q_num_heads", "kv_num_heads"});
    node_.expect(node_.has_input(4) == node_.has_input(5), "past keys together with past values",
                 [] { return "one of them"; });
    past_ = 0;
    if (node_.has_input(4)) {
      node_.expect(node_.shape(4).size() == 4, "past keys of rank 4", [&] { return to_text(node_.shape(4)); });
      past_ = node_.shape(4)[2];
      k = of_.concat({node_.input(4), k}, 2);
      v = of_.concat({node_.input(5), v}, 2);
    }
    node_.output(1, k);
    node_.output(2, v);
    queries_ = q.type.shape[2];
    keys_ = k.type.shape[2];
    attend(q, of_.widened(k), of_.widened(v));
  }

 private:
  double read_scale(const Value& q) {
    if (node_.has("scale")) return node_.real("scale");
    node_.ignore({"scale"});
    return scale_of_heads(node_, q);
  }

  void attend(const Value& q, const Value& k, const Value& v) {
    const DType dtype = q.type.dtype;
    const std::int64_t mode = node_.integer("qk_matmul_output_mode", 0);
    node_.expect(mode >= 0 && mode <= 3, "a qk_matmul_output_mode of 0 to 3", [&] { return std::to_string(mode); });
    node_.ignore({"softmax_precision"});  // it is float32 at least
    const Value scaled = of_.mul(of_.widened(q), read_scale(q));
    Value scores = product_per_head(node_, scaled, k, true);
    const double cap = node_.real("softcap", 0);
    if (cap > 0) scores = of_.mul(of_.tanh(of_.div(scores, cap)), cap);
    if (mode < 2) node_.output(3, node_.cast(scores, dtype));
    const std::optional<Value> bias = read_bias(scores.type.dtype);
    if (bias) scores = of_.add(scores, *bias);
    if (mode == 2) node_.output(3, node_.cast(scores, dtype));
    Value weights = of_.softmax(scores, 3);
    if (bias && may_mask_all_) {
      // The softmax of a row in which all keys are masked is not defined; such a row attends to nothing.
      const std::size_t last = bias->type.shape.size() - 1;
      const Value is_masked = of_.equal(of_.reduce(Operator::reduce_max, *bias, {last}), -kInfinity);
      weights = of_.where(is_masked, of_.number(weights, 0), weights);
    }
    if (mode == 3) node_.output(3, node_.cast(weights, dtype));
    const Value y = node_.cast(product_per_head(node_, weights, v, false), dtype);
    node_.output(0, node_.shape(0).size() == 3 ? without_heads(node_, y) : y);
  }

  // The keys that each query may attend to by its position; nothing: all.
  std::optional<Value> allowed_places() {
    const Value key = of_.iota(keys_, 1, 2), query = of_.iota(queries_, 0, 2);
    std::optional<Value> allowed;
    const auto restrict = [&](const Value& condition) {
      allowed = allowed ? of_.logical_and(*allowed, condition) : condition;
    };
    Value place = of_.add(query, of_.size(past_));
    if (node_.has_input(6)) {
      const Value& lengths = node_.input(6);
      const Value length = of_.reshape(node_.cast(lengths, DType::i64), {element_count(lengths.type.shape), 1, 1, 1});
      restrict(of_.less(key, length));
      const Value before = of_.sub(length, of_.size(queries_));
      if (!node_.has_input(4)) place = of_.add(query, before);
      may_mask_all_ = true;
    }
    if (node_.flag("is_causal", false)) restrict(of_.less_equal(key, place));
    for (const char* name : {"left_window_size", "right_window_size"}) {
      const std::int64_t size = node_.opset() < 25 ? -1 : node_.integer(name, -1);
      if (size < 0) continue;
      const bool is_left = name[0] == 'l';
      const Value distance = is_left ? of_.sub(place, key) : of_.sub(key, place);
      restrict(of_.less_equal(distance, of_.size(size)));
      may_mask_all_ = true;
    }
    return allowed;
  }

  // Returns the bias added to the scores: minus infinity where a key is masked; nothing if no key is.
  std::optional<Value> read_bias(DType dtype) {
    std::optional<Value> allowed = allowed_places(), bias;
    if (node_.has_input(3)) {
      Value mask = node_.input(3);
      may_mask_all_ = true;
      const std::size_t last = mask.type.shape.size() - 1;
      node_.expect(!mask.type.shape.empty(), "a mask of keys", [&] { return to_text(mask.type); });
      const Size missing = keys_ - mask.type.shape[last];
      const bool is_bool = mask.type.dtype == DType::boolean;
      node_.expect(is_bool || is_float(mask.type.dtype), "a mask of bools or floats",
                   [&] { return to_text(mask.type); });
      if (mask.type.shape[last].constant() != 1 || keys_.constant() == 1) {
        mask = of_.pad(mask, last, 0, missing, is_bool ? 0 : -kInfinity);
      }
      if (is_bool) {
        allowed = allowed ? of_.logical_and(*allowed, mask) : mask;
      } else {
        bias = node_.cast(mask, dtype);
      }
    }
    if (!allowed) return bias;
    const Value zero = node_.constant(dtype, 0);
    return of_.where(*allowed, bias ? *bias : zero, node_.constant(dtype, -kInfinity));
  }

  NodeImport& node_;
  NodeOps of_;
  Size past_, queries_, keys_;
  bool may_mask_all_ = false;
};

}  // namespace

void import_attention(NodeImport& node) { Attention(node).run(); }

}  // namespace ferry::graph::onnx
