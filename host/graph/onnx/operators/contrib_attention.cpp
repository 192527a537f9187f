// Attention and MultiHeadAttention of com.microsoft. They mask by adding a number to the scores, and cap nothing.
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/attention.h"

#include <limits>

namespace ferry::graph::onnx {
namespace {

// The keys and values, with heads in a dimension of their own.
struct Projected {
  Value q, k, v;
};

void expect_floats(const NodeImport& node, const Projected& p) {
  for (const Value& value : {p.q, p.k, p.v})
    node.expect(is_float(value.type.dtype), "queries, keys and values of floats", [&] { return to_text(value.type); });
}

// Refuses what ONNX Runtime's own loops of generation need: one buffer that past and present share.
void expect_no_shared_buffer(NodeImport& node, std::size_t past_length) {
  node.expect(!node.has_input(past_length),
              "a past and a present of their own, as an export without past_present_share_buffer has them",
              [] { return "a past_sequence_length"; });
}

// Returns a mask as bools that broadcast to [batch, heads, queries, keys].
Value read_mask(const NodeImport& node, const Value& mask, const Size& past, const Shape& scores) {
  const NodeOps of(node);
  const Size &batch = scores[0], &queries = scores[2], &keys = scores[3];
  const Shape& shape = mask.type.shape;
  const auto expect_size = [&](std::size_t d, const Size& size, const char* what) {
    node.equal("a dimension of the mask", shape[d], what, size);
  };
  if (shape.size() == 1) {
    // The ends of the keys, and behind them, where they are given, the beginnings.
    const bool has_begins = shape[0] == batch * 2;
    node.expect(has_begins || shape[0] == batch, "a mask, or one or two bounds of the keys for each entry of the batch",
                [&] { return to_text(mask.type); });
    const Value key = of.iota(keys, 3, 4), bounds = node.cast(mask, DType::i64);
    const auto bound = [&](const Size& begin) {
      return of.reshape(of.slice(bounds, 0, begin, batch), {batch, 1, 1, 1});
    };
    const Value before_end = of.less(key, bound(0));
    return has_begins ? of.logical_and(before_end, of.less_equal(bound(batch), key)) : before_end;
  }
  const Value allowed = of.less(of.number(mask, 0), mask);
  if (shape.size() == 2) {
    expect_size(0, batch, "the batch");
    expect_size(1, keys, "the number of keys");
    return of.reshape(allowed, {batch, 1, 1, keys});
  }
  if (shape.size() == 3) {
    expect_size(0, batch, "the batch");
    expect_size(1, queries, "the number of queries");
    expect_size(2, keys, "the number of keys");
    return of.reshape(allowed, {batch, 1, queries, keys});
  }
  // That of a longest sequence, of which the rows of these queries count.
  node.expect(shape.size() == 4, "a mask of rank 1 to 4", [&] { return to_text(mask.type); });
  return of.slice(of.slice(allowed, 2, past, queries), 3, 0, keys);
}

struct AttentionInputs {
  std::size_t mask, bias;  // numbers of the inputs
  Size past;
};

// Sets the first output. Returns the scores as they are before the softmax.
Value attend(NodeImport& node, const Projected& p, const AttentionInputs& inputs) {
  const NodeOps of(node);
  const double wanted = node.real("scale", 0), filter = node.real("mask_filter_value", -10000);
  const Value scaled = of.mul(of.widened(p.q), wanted == 0 ? scale_of_heads(node, p.q) : wanted);
  Value scores = product_per_head(node, scaled, of.widened(p.k), true);
  const Shape shape = scores.type.shape;
  if (node.has_input(inputs.bias)) scores = of.add(scores, of.widened(node.input(inputs.bias)));
  if (node.has_input(inputs.mask)) {
    const Value allowed = read_mask(node, node.input(inputs.mask), inputs.past, shape);
    scores = of.add(scores, of.where(allowed, of.number(scores, 0), of.number(scores, filter)));
  }
  if (node.flag("unidirectional", false)) {
    const Value place = of.add(of.iota(shape[2], 2, 4), of.size(inputs.past));
    const Value before = of.less_equal(of.iota(shape[3], 3, 4), place);
    scores = of.where(before, scores, of.number(scores, -std::numeric_limits<double>::infinity()));
  }
  const Value y = product_per_head(node, of.softmax(scores, 3), of.widened(p.v), false);
  node.output(0, without_heads(node, node.cast(y, p.q.type.dtype)));
  return scores;
}

// Returns a part of what is packed along dimension 3, [batch, sequence, heads, parts, size], with heads in front.
Value part_of(const NodeOps& of, const Value& packed, std::int64_t part) {
  const Shape& shape = packed.type.shape;
  const Value one = of.reshape(of.slice(packed, 3, part, 1), {shape[0], shape[1], shape[2], shape[4]});
  return of.transpose(one, {0, 2, 1, 3});
}

// Returns queries, keys and values in whichever form they are given. Keys and values may also be those of another
// sequence: they have heads in front then, and no bias.
Projected read_projected(NodeImport& node, std::int64_t heads) {
  const NodeOps of(node);
  const auto expect_packed = [&](std::size_t input, std::int64_t parts) {
    const Shape& shape = node.shape(input);
    node.expect(shape.size() == 5 && shape[2] == Size(heads) && shape[3] == Size(parts),
                "[batch, sequence, " + std::to_string(heads) + ", " + std::to_string(parts) + ", size]",
                [&] { return to_text(shape); });
  };
  Projected p;
  bool has_bias = node.has_input(3), has_bias_of_keys = has_bias;
  if (!node.has_input(1)) {
    expect_packed(0, 3);
    p = {part_of(of, node.input(0), 0), part_of(of, node.input(0), 1), part_of(of, node.input(0), 2)};
  } else {
    p.q = split_heads(node, node.input(0), heads);
    if (!node.has_input(2)) {
      expect_packed(1, 2);
      p.k = part_of(of, node.input(1), 0);
      p.v = part_of(of, node.input(1), 1);
    } else {
      const bool is_split = node.shape(1).size() == 4;
      has_bias_of_keys = has_bias && !is_split;
      p.k = is_split ? node.input(1) : split_heads(node, node.input(1), heads);
      p.v = node.shape(2).size() == 4 ? node.input(2) : split_heads(node, node.input(2), heads);
    }
  }
  Size begin = 0;
  const auto with_bias = [&](Value& x, bool has) {
    const Size size = x.type.shape[3], count = size * heads;
    if (has) x = of.add(x, of.reshape(of.slice(node.input(3), 0, begin, count), {1, heads, 1, size}));
    begin = begin + count;
  };
  with_bias(p.q, has_bias);
  with_bias(p.k, has_bias_of_keys);
  with_bias(p.v, has_bias_of_keys);
  return p;
}

}  // namespace

// Projects the input to queries, keys and values, and attends.
void import_contrib_attention(NodeImport& node) {
  const NodeOps of(node);
  const std::int64_t heads = read_heads(node, "num_heads");
  expect_no_shared_buffer(node, 6);
  node.expect(!node.flag("past_present_share_buffer", false),
              "a past and a present of their own, as an export without past_present_share_buffer has them",
              [] { return "one buffer for both"; });
  node.expect(!node.flag("do_rotary", false), "rotary embeddings as nodes of their own (RotaryEmbedding)",
              [] { return "do_rotary = 1"; });
  node.ignore({"rotary_embedding_dim"});
  Value all = of.matmul(of.widened(node.input(0)), of.widened(node.input(1)));
  if (node.has_input(2)) all = of.add(all, of.widened(node.input(2)));
  all = node.cast(all, node.input(0).type.dtype);
  const Shape& shape = all.type.shape;
  node.expect(shape.size() == 3, "an input of rank 3", [&] { return to_text(node.shape(0)); });
  std::vector<Size> sizes;
  if (node.has("qkv_hidden_sizes")) {
    for (const std::int64_t size : node.integers("qkv_hidden_sizes")) sizes.emplace_back(size);
    node.expect(sizes.size() == 3, "three qkv_hidden_sizes", [&] { return to_text(sizes); });
  } else {
    const std::optional<Size> third = divide_exactly(shape[2], 3);
    node.expect(third.has_value(), "weights that three divides, or qkv_hidden_sizes",
                [&] { return to_text(node.shape(1)); });
    sizes.assign(3, *third);
  }
  node.ignore({"qkv_hidden_sizes"});
  node.equal("the sum of qkv_hidden_sizes", sizes[0] + sizes[1] + sizes[2], "the columns of the weights", shape[2]);
  const auto part = [&](const Size& begin, const Size& count) {
    return split_heads(node, of.slice(all, 2, begin, count), heads);
  };
  Projected p = {part(0, sizes[0]), part(sizes[0], sizes[1]), part(sizes[0] + sizes[1], sizes[2])};
  expect_floats(node, p);
  AttentionInputs inputs = {3, 5, 0};
  if (node.has_input(4)) {
    const Shape& past = node.shape(4);
    node.expect(past.size() == 5 && past[0] == Size(2), "a past of [2, batch, heads, sequence, size]",
                [&] { return to_text(past); });
    const auto part_of_past = [&](std::int64_t which) {
      return of.reshape(of.slice(node.input(4), 0, which, 1), {past[1], past[2], past[3], past[4]});
    };
    inputs.past = past[3];
    p.k = of.concat({part_of_past(0), p.k}, 2);
    p.v = of.concat({part_of_past(1), p.v}, 2);
  }
  if (node.has_output(1)) {
    const auto as_one = [&](const Value& x) {
      const Shape& size = x.type.shape;
      return of.reshape(x, {1, size[0], size[1], size[2], size[3]});
    };
    node.output(1, of.concat({as_one(p.k), as_one(p.v)}, 0));
  }
  attend(node, p, inputs);
}

void import_multi_head_attention(NodeImport& node) {
  const NodeOps of(node);
  Projected p = read_projected(node, read_heads(node, "num_heads"));
  expect_floats(node, p);
  expect_no_shared_buffer(node, 8);
  node.expect(!node.has_input(9), "sequences that are no beams of one search", [] { return "a cache_indirection"; });
  node.expect(node.has_input(6) == node.has_input(7), "past keys together with past values",
              [] { return "one of them"; });
  AttentionInputs inputs = {4, 5, 0};
  if (node.has_input(6)) {
    node.expect(node.shape(6).size() == 4, "past keys of rank 4", [&] { return to_text(node.shape(6)); });
    inputs.past = node.shape(6)[2];
    p.k = of.concat({node.input(6), p.k}, 2);
    p.v = of.concat({node.input(7), p.v}, 2);
  }
  node.output(1, p.k);
  node.output(2, p.v);
  const Value scores = attend(node, p, inputs);
  if (node.has_output(3)) node.output(3, node.cast(scores, p.q.type.dtype));
}

}  // namespace ferry::graph::onnx
