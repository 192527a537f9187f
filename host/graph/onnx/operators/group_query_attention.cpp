// GroupQueryAttention of com.microsoft: attention to a cache of keys and values, of which each sequence of the batch
// has filled a part of its own.
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/attention.h"

#include <limits>

namespace ferry::graph::onnx {
namespace {

class GroupQueryAttention {
 public:
  explicit GroupQueryAttention(NodeImport& node) : node_(node), of_(node) {}

  void run() {
    expect_supported();
    read_projected();
    batch_ = q_.type.shape[0];
    queries_ = q_.type.shape[2];
    const Value length = node_.cast(of_.reshape(node_.input(5), {batch_, 1, 1, 1}), DType::i64);  // less one
    // A prompt begins at 0, also where it is padded.
    begin_ = of_.maximum(of_.add(length, of_.size(1 - queries_)), of_.size(0));
    if (node_.has_input(14) || node_.has_input(15)) normalize_heads();
    if (node_.flag("do_rotary", false)) {
      rotate();
    } else {
      node_.ignore({"rotary_interleaved"});
    }
    fill_cache();
    node_.output(1, k_);
    node_.output(2, v_);
    const bool is_causal = node_.flag("causal", true);
    const Value key = of_.iota(k_.type.shape[2], 3, 4), place = of_.add(begin_, of_.iota(queries_, 2, 4));
    Value allowed = of_.less_equal(key, is_causal ? place : length);
    const std::int64_t window = node_.integer("local_window_size", -1);
    if (window > 0) allowed = of_.logical_and(allowed, of_.less(of_.sub(place, key), of_.size(window)));
    attend(allowed);
  }

 private:
  void expect_supported() {
    for (const std::size_t scale : {12, 13}) {
      node_.expect(!node_.has_input(scale),
                   "a cache of the type of the queries, as an export without a quantized cache has it",
                   [] { return "scales of a cache of integers or float8"; });
    }
    node_.ignore({"k_quant_type", "v_quant_type", "kv_cache_bit_width"});
    node_.expect(!node_.flag("sliding_window_cache", false), "a cache of the whole sequence (sliding_window_cache = 0)",
                 [] { return "a cache of a window"; });
    const bool has_scores = node_.has_output(3) && node_.integer("qk_output", 0) != 0;
    node_.ignore({"qk_output"});
    node_.expect(!has_scores, "no fourth output (qk_output = 0)", [] { return "one of scores"; });
    node_.expect(node_.has_input(3) == node_.has_input(4), "past keys together with past values",
                 [] { return "one of them"; });
  }

  void read_projected() {
    const std::int64_t heads = read_heads(node_, "num_heads"), shared_heads = read_heads(node_, "kv_num_heads");
    node_.expect(heads % shared_heads == 0, "a num_heads that kv_num_heads divides",
                 [&] { return std::to_string(heads) + " and " + std::to_string(shared_heads); });
    const Value& x = node_.input(0);
    node_.expect(node_.has_input(1) == node_.has_input(2), "keys together with values", [] { return "one of them"; });
    if (node_.has_input(1)) {
      q_ = split_heads(node_, x, heads);
      k_ = split_heads(node_, node_.input(1), shared_heads);
      v_ = split_heads(node_, node_.input(2), shared_heads);
      node_.equal("the number of keys", k_.type.shape[2], "the number of queries", q_.type.shape[2]);
    } else {
      const Value all = split_heads(node_, x, heads + 2 * shared_heads);
      q_ = of_.slice(all, 1, 0, heads);
      k_ = of_.slice(all, 1, heads, shared_heads);
      v_ = of_.slice(all, 1, heads + shared_heads, shared_heads);
    }
    node_.expect(is_float(q_.type.dtype), "queries of floats", [&] { return to_text(q_.type); });
  }

  // Divides each head of the queries and keys by the root of the mean of its squares.
  void normalize_heads() {
    node_.expect(node_.has_input(14) && node_.has_input(15), "weights of the queries' norm together with the keys'",
                 [] { return "one of them"; });
    const double epsilon = node_.real("qk_norm_epsilon", 1e-6);
    const auto normalized = [&](const Value& x, std::size_t weight) {
      const Value wide = of_.widened(x), square = of_.reduce(Operator::reduce_mean, of_.mul(wide, wide), {3});
      const Value norm = of_.div(wide, of_.sqrt(of_.add(square, epsilon)));
      return node_.cast(of_.mul(norm, of_.widened(node_.input(weight))), x.type.dtype);
    };
    q_ = normalized(q_, 14);
    k_ = normalized(k_, 15);
  }

  void rotate() {
    node_.expect(node_.has_input(7) && node_.has_input(8), "cosines and sines of the rotary embedding",
                 [] { return "none"; });
    const std::optional<std::int64_t> half = node_.shape(7).empty() ? std::nullopt : node_.shape(7).back().constant();
    node_.expect(half.has_value(), "a known number of angles", [&] { return to_text(node_.shape(7)); });
    const Value places =
        node_.has_input(9) ? node_.input(9) : of_.add(of_.reshape(begin_, {batch_, 1}), of_.iota(queries_, 1, 2));
    const auto angles = [&](std::size_t input) {
      return for_heads(node_, of_.gather(node_.input(input), places, 0), 2 * *half);
    };
    const Value cosine = angles(7), sine = angles(8);
    const bool is_interleaved = node_.flag("rotary_interleaved", false);
    q_ = turned(node_, q_, cosine, sine, 2 * *half, is_interleaved);
    k_ = turned(node_, k_, cosine, sine, 2 * *half, is_interleaved);
  }

  // Puts the keys and values behind those that the cache has of their sequence.
  void fill_cache() {
    if (!node_.has_input(3)) return;
    const Shape& past = node_.shape(3);
    node_.expect(past.size() == 4, "past keys of rank 4", [&] { return to_text(past); });
    if (past[2].constant() == 0) return;
    const Size total = node_.size(6, "the total_sequence_length");
    // A single sequence fills what is not longer than it must be.
    if (batch_.constant() == 1 && total == past[2] + queries_) {
      k_ = of_.concat({node_.input(3), k_}, 2);
      v_ = of_.concat({node_.input(4), v_}, 2);
      return;
    }
    const Value places = of_.add(begin_, of_.iota(queries_, 2, 4));
    const Size room = max(past[2], total);
    const auto filled = [&](const Value& cache, const Value& x) {
      // Joined to it, the dimension of the past may be 0.
      const Shape& shape = cache.type.shape;
      const Value rest = of_.filled({cache.type.dtype, {shape[0], shape[1], room - past[2], shape[3]}}, 0);
      const Value all = room == past[2] ? cache : of_.concat({cache, rest}, 2);
      return of_.scatter(all, places, x, {2, ScatterMode::replace});
    };
    k_ = filled(node_.input(3), k_);
    v_ = filled(node_.input(4), v_);
  }

  void attend(const Value& allowed) {
    const double wanted = node_.real("scale", 0), cap = node_.real("softcap", 0);
    const Value scaled = of_.mul(of_.widened(q_), wanted == 0 ? scale_of_heads(node_, q_) : wanted);
    Value scores = product_per_head(node_, scaled, of_.widened(k_), true);
    if (cap > 0) scores = of_.mul(of_.tanh(of_.div(scores, cap)), cap);
    const Size keys = scores.type.shape[3];
    if (node_.has_input(10)) {
      // The bias has no entries for room in the cache that nothing has filled yet.
      const Value bias = of_.widened(node_.input(10));
      node_.expect(bias.type.shape.size() == 4, "an attention_bias of rank 4", [&] { return to_text(bias.type); });
      scores = of_.add(scores, of_.pad(bias, 3, 0, keys - bias.type.shape[3]));
    }
    scores = of_.where(allowed, scores, of_.number(scores, -std::numeric_limits<double>::infinity()));
    const bool has_sink = node_.has_input(11), is_smooth = node_.flag("smooth_softmax", false) || has_sink;
    if (is_smooth) {
      // One more key, whose value is 0.
      const Shape& shape = scores.type.shape;
      const Value sink = has_sink ? of_.reshape(of_.widened(node_.input(11)), {1, shape[1], 1, 1})
                                  : of_.reshape(of_.number(scores, 0), {1, 1, 1, 1});
      scores = of_.concat({scores, of_.broadcast(sink, {shape[0], shape[1], shape[2], 1})}, 3);
    }
    const Value weights = of_.slice(of_.softmax(scores, 3), 3, 0, keys);
    const Value y = product_per_head(node_, weights, of_.widened(v_), false);
    node_.output(0, without_heads(node_, node_.cast(y, q_.type.dtype)));
  }

  NodeImport& node_;
  NodeOps of_;
  Size batch_, queries_;
  Value q_, k_, v_;
  Value begin_;  // the place of each sequence's first query, [batch, 1, 1, 1]
};

}  // namespace

void import_group_query_attention(NodeImport& node) { GroupQueryAttention(node).run(); }

}  // namespace ferry::graph::onnx
