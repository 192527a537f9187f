// Importers of com.microsoft's operators refuse what they do not know. An end-to-end test compares with ONNX Runtime
// what they compute.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/host/graph/onnx/imported.h"

namespace ferry::test {
namespace {

struct Input {
  std::vector<Dim> shape;  // none: not given
  std::int64_t type = kFloat;
};

std::string refusal(const std::string& op, const std::vector<Input>& inputs, const std::vector<Proto>& attributes,
                    std::size_t outputs = 1) {
  ModelBytes model;
  model.domain = "com.microsoft";
  model.opset = 1;
  std::vector<std::string> names, results;
  for (const Input& input : inputs) {
    names.push_back(input.shape.empty() ? "" : "i" + std::to_string(names.size()));
    if (!input.shape.empty()) model.input(names.back(), input.shape, input.type);
  }
  for (std::size_t i = 0; i < outputs; ++i) results.push_back("y" + std::to_string(i));
  model.node(op, names, results, attributes, "n", "com.microsoft");
  for (const std::string& result : results) model.output(result);
  const std::string text = refusal_of(model), begin = "node 'n' (com.microsoft." + op + ", opset 1): expected ";
  return text.starts_with(begin) ? text.substr(begin.size()) : text;
}

const Input kNone = {}, kQueries = {{"N", "T", 12}};

TEST_CASE("attention with projections refuses what its shapes do not give") {
  const auto attention = [](const std::vector<Input>& more, std::vector<Proto> attributes) {
    std::vector<Input> inputs = {{{"N", "T", 5}}, {{5, 36}}, {{36}}};
    inputs.insert(inputs.end(), more.begin(), more.end());
    attributes.push_back(attribute("num_heads", 3));
    return refusal("Attention", inputs, attributes);
  };
  CHECK(attention({{{"N", 7, 7, 7, 7}, kInt32}}, {}) == "a mask of rank 1 to 4, got i32[N,7,7,7,7]");
  CHECK(attention({{{"M"}, kInt32}}, {}) ==
        "a mask, or one or two bounds of the keys for each entry of the batch, got i32[M]");
  CHECK(attention({}, {attribute("do_rotary", 1)}) ==
        "rotary embeddings as nodes of their own (RotaryEmbedding), got do_rotary = 1");
  CHECK(attention({}, {attribute("past_present_share_buffer", 1)}) ==
        "a past and a present of their own, as an export without past_present_share_buffer has them, got one buffer "
        "for both");
  CHECK(attention({}, {attribute("qkv_hidden_sizes", std::vector<std::int64_t>{12, 12})}) ==
        "three qkv_hidden_sizes, got [12,12]");
  CHECK(attention({kNone, {{3, "N", 3, "P", 4}}}, {}) ==
        "a past of [2, batch, heads, sequence, size], got [3,N,3,P,4]");
}

TEST_CASE("attention with many heads refuses beams, and heads that do not divide") {
  const auto attention = [](std::vector<Input> inputs, std::int64_t heads) {
    return refusal("MultiHeadAttention", inputs, {attribute("num_heads", heads)});
  };
  CHECK(attention({kQueries, kQueries, kQueries}, 5) == "heads that divide the last dimension, got 5 for [N,T,12]");
  CHECK(attention({kQueries, kQueries, kQueries}, 0) == "a positive num_heads, got 0");
  CHECK(attention({kQueries}, 3) == "[batch, sequence, 3, 3, size], got [N,T,12]");
  CHECK(attention({kQueries, kQueries, kQueries, kNone, kNone, kNone, {{"N", 3, "P", 4}}}, 3) ==
        "past keys together with past values, got one of them");
  CHECK(attention({kQueries, kQueries, kQueries, kNone, kNone, kNone, kNone, kNone, {{1}, kInt32}}, 3) ==
        "a past and a present of their own, as an export without past_present_share_buffer has them, got a "
        "past_sequence_length");
}

TEST_CASE("attention of groups of heads refuses caches of integers or of a window, and lengths that are not known") {
  const auto attention = [](const std::vector<Input>& more, std::vector<Proto> attributes, std::size_t outputs = 1) {
    std::vector<Input> inputs = {kQueries,           {{"N", "T", 4}}, {{"N", "T", 4}}, {{"N", 1, "P", 4}},
                                 {{"N", 1, "P", 4}}, {{"N"}, kInt32}, {{1}, kInt32}};
    inputs.insert(inputs.end(), more.begin(), more.end());
    attributes.push_back(attribute("num_heads", 3));
    attributes.push_back(attribute("kv_num_heads", 1));
    return refusal("GroupQueryAttention", inputs, attributes, outputs);
  };
  CHECK(attention({kNone, kNone, kNone, kNone, kNone, {{1}}}, {}) ==
        "a cache of the type of the queries, as an export without a quantized cache has it, got scales of a cache of "
        "integers or float8");
  CHECK(attention({}, {attribute("sliding_window_cache", 1), attribute("local_window_size", 4)}) ==
        "a cache of the whole sequence (sliding_window_cache = 0), got a cache of a window");
  CHECK(attention({}, {attribute("qk_output", 1)}, 4) == "no fourth output (qk_output = 0), got one of scores");
  CHECK(attention({}, {attribute("do_rotary", 1)}) == "cosines and sines of the rotary embedding, got none");
  CHECK(attention({}, {}) ==
        "the total_sequence_length to be known when the network is imported, got the computed tensor 'i6'; bind the "
        "input "
        "that decides it");
}

// A product with 130 columns of 64 weights of 4 bits in two blocks.
ModelBytes few_bits(const std::vector<Proto>& more = {}, std::int64_t bits = 4) {
  ModelBytes model;
  model.domain = "com.microsoft";
  model.opset = 1;
  model.input("x", {"N", 3, 64});
  model.initializer(tensor("w", kUint8, {130, 2, 16}, std::string(130 * 32, '\x9a')));
  model.initializer(tensor("s", kFloat, {130, 2}, std::string(std::size_t{130} * 2 * 4, '\0')));
  std::vector<Proto> attributes = {attribute("N", 130), attribute("K", 64), attribute("bits", bits),
                                   attribute("block_size", 32)};
  attributes.insert(attributes.end(), more.begin(), more.end());
  return model.node("MatMulNBits", {"x", "w", "s"}, {"y"}, attributes, "n", "com.microsoft").output("y");
}

TEST_CASE("weights of few bits stay packed") {
  const graph::Graph graph = imported(few_bits());
  std::size_t bytes = 0;
  for (const graph::Tensor& one : graph.tensors)
    if (one.constant != nullptr) bytes += one.constant->bytes.size();
  CHECK(bytes == 3 * 64 * (32 + 2 * sizeof(float)));
  CHECK(text_of(graph) ==
        "reshape(x) f32[N*3,64]\npacked_matmul(n,packed weights,packed weights) f32[N*3,3,64]\n"
        "reshape(n) f32[N*3,192]\nslice(n) f32[N*3,130]\nreshape(n) f32[N,3,130]");
}

TEST_CASE("weights of few bits of another form are refused") {
  const std::string begin = "node 'n' (com.microsoft.MatMulNBits, opset 1): expected ";
  CHECK(refusal_of(few_bits({}, 3)) == begin + "weights of 2, 4 or 8 bits, got 3");
  CHECK(refusal_of(few_bits({}, 8)) == begin + "weights of 8320 bytes, got 4160");
  CHECK(
      refusal_of(few_bits({attribute("act_order", 1)})).starts_with("node 'n' (com.microsoft.MatMulNBits, opset 1): "));
  CHECK(refusal("GatherBlockQuantized", {{{7, 16}, kFloat}, {{"N"}, kInt64}, {{7, 2}}},
                {attribute("block_size", 16)}) == "packed data of uint8, got f32[7,16]");
  CHECK(refusal("GatherBlockQuantized", {{{7, 16}, kUint8}, {{"N"}, kInt64}, {{7, 3}}},
                {attribute("block_size", 16)}) == "a scale for each block of 16, got u8[7,16] and f32[7,3]");
}

}  // namespace
}  // namespace ferry::test
