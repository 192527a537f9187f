// Operators that become several of the graph's: their shapes where sizes are open, and what is refused. ONNX's own
// tests compare what they compute.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/unit/host/graph/onnx/import_case.h"

namespace ferry::test {
namespace {

// Returns the operators of the nodes and the result's type.
std::string summary(const Case& one) {
  const std::string text = import_case(one);
  if (text.starts_with("node ")) return text;
  std::string operators;
  for (std::size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
    operators += text.substr(at, text.find('(', at) - at) + " ";
  }
  return operators + text.substr(text.rfind(' ') + 1);
}

TEST_CASE("indices are linear positions where tuples of them name elements") {
  CHECK(summary({"GatherElements", {"N", 3}, {tensor("a", kInt64, {2, 3}, std::string(48, '\0'))}}) ==
        "gather_elements f32[2,3]");
  CHECK(summary({"GatherND", {2, 3, "N"}, {tensor("a", kInt64, {5, 2}, std::string(80, '\0'))}}) ==
        "reshape gather_elements reshape f32[5,N]");
  CHECK(summary({"GatherND", {2}, {tensor("a", kInt64, {5, 2}, std::string(80, '\0'))}}) ==
        "node 'n' (GatherND, opset 17): expected tuples of 1 to 1 indices, got [5,2]");
  CHECK(summary({"ScatterND", {4, "N"}, {tensor("a", kInt64, {2, 1}, std::string(16, '\0')), floats("b", {2, 3})}}) ==
        "node 'n' (ScatterND, opset 17): expected updates of shape [2,N], got [2,3]");
  CHECK(summary({"ScatterElements",
                 {4, 3},
                 {tensor("a", kInt64, {2, 1}, std::string(16, '\0')), floats("b", {2, 1})},
                 {attribute("reduction", "xor")},
                 18}) ==
        "node 'n' (ScatterElements, opset 18): expected the reduction none, add, mul, min or max, got xor");
}

TEST_CASE("cumulative sums and products are one operator at any size") {
  const Proto axis = tensor("a", kInt64, {}, std::string(8, '\0'));
  for (const char* size : {"5", "N"}) {
    CAPTURE(size);
    const Dim dimension = size[0] == 'N' ? Dim("N") : Dim(5);
    CHECK(summary({"CumSum", {dimension}, {axis}}) == std::string("cumulative_sum f32[") + size + "]");
    CHECK(summary({"CumProd", {dimension}, {axis}, {}, 26}) == std::string("cumulative_prod f32[") + size + "]");
  }
}

TEST_CASE("lines of a known size are sorted as the last dimension") {
  CHECK(import_case({"TopK", {"N", 9}, {integers("a", {3})}, {}, 17, 2}) ==
        "top_k(x) i64[N,3]\ngather_elements(x,y1) f32[N,3]");
  CHECK(summary({"TopK", {2, 9, "N"}, {integers("a", {3})}, {attribute("axis", 1)}, 17, 2}) ==
        "transpose reshape top_k reshape transpose gather_elements f32[2,3,N]");
}

TEST_CASE("the greatest elements of lines of an open size are written to the places that sorting would give them") {
  CHECK(import_case({"TopK", {9, "N"}, {integers("a", {3})}, {}, 17, 2}) ==
        "sort_rank(x) i64[9,N]\niota() i64[N]\nreshape(n) i64[1,N]\nscatter(n,n,n) i64[9,3]\n"
        "gather_elements(x,y1) f32[9,3]");
  CHECK(summary({"TopK", {"N", 9}, {integers("a", {10})}, {}, 17, 2}) ==
        "node 'n' (TopK, opset 17): expected a number of elements, at most that of the dimension, got 10");
}

TEST_CASE("ranges count to sizes that are open") {
  ModelBytes model;
  model.input("x", {"N", 2}).initializer(tensor("zero", kInt64, {}, raw<std::int64_t>({0})));
  model.initializer(tensor("one", kInt64, {}, raw<std::int64_t>({1}))).node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "zero"}, {"n"}).node("Range", {"zero", "n", "one"}, {"y"}).output("y");
  CHECK(text_of(imported(model)) == "iota() i64[N]");
}

TEST_CASE("sums of products become products of matrices") {
  const auto einsum = [](const char* equation, const Sizes& other) {
    return summary({"Einsum", {"N", 3, 4}, {floats("a", other)}, {attribute("equation", equation)}});
  };
  CHECK(einsum("bij,bjk->bik", {1, 4, 5}) == "matmul f32[N,3,5]");
  CHECK(einsum("bij,jk", {4, 5}) == "reshape matmul reshape f32[N,3,5]");
  CHECK(einsum("...j,...j->...", {4}) == "reshape matmul reshape f32[N,3]");
  CHECK(einsum("ij,jk", {4, 5}) ==
        "node 'n' (Einsum, opset 17): expected a letter for each dimension, got 'ij' for [N,3,4]");
  CHECK(einsum("bij,jk->bi?", {4, 5}) ==
        "node 'n' (Einsum, opset 17): expected letters and at most one '...' in each term, got bi?");
  CHECK(einsum("bij,jk->bz", {4, 5}) ==
        "node 'n' (Einsum, opset 17): expected different letters of the inputs in the output, got bij,jk->bz");
  CHECK(einsum("bij", {4, 5}) ==
        "node 'n' (Einsum, opset 17): expected a term of the equation for each input, got 1 for 2");
}

TEST_CASE("transposed convolutions compute the elements between two of the input as channels") {
  const auto transposed = [](const std::vector<Dim>& x, std::vector<Proto> attributes) {
    return summary({"ConvTranspose", x, {floats("a", {6, 4, 2, 2})}, std::move(attributes)});
  };
  CHECK(transposed({1, 6, "H", 5}, {attribute("strides", {2, 2})}).ends_with(" f32[1,4,H*2,10]"));
  CHECK(
      transposed({1, 6, "H", 5}, {attribute("strides", {2, 2}), attribute("group", 2)}).ends_with(" f32[1,8,H*2,10]"));
  CHECK(transposed({1, 6, 4, 5}, {attribute("strides", {2, 2}), attribute("output_shape", {9, 10})})
            .ends_with(" f32[1,4,9,10]"));
  CHECK(transposed({1, 6, 4, 5}, {attribute("strides", {0, 2})}) ==
        "node 'n' (ConvTranspose, opset 17): expected kernel sizes, strides and dilations from 1 to 2^20, got 0");
  CHECK(transposed({1, 6, "H", 5}, {attribute("auto_pad", "SAME_UPPER"), attribute("strides", {2, 2})})
            .ends_with(" f32[1,4,H*2,10]"));
  CHECK(transposed({1, 5, 4, 5}, {}) ==
        "node 'n' (ConvTranspose, opset 17): expected filters for the input's channels, which the groups divide, got "
        "[6,4,2,2] for [1,5,4,5]");
}

TEST_CASE("the steps of a recurrent network become nodes each if they are few, and a loop if they are many or open") {
  const auto lstm = [](const std::vector<Dim>& x) {
    return summary({"LSTM", x, {floats("a", {1, 12, 4}), floats("b", {1, 12, 3})}});
  };
  const std::string loop =
      " loop matmul add slice sigmoid slice sigmoid slice tanh mul mul add slice sigmoid tanh mul "
      "end_loop reshape ";
  CHECK(lstm({2, "N", 4}).ends_with(" f32[2,1,N,3]"));
  CHECK(lstm({8, "N", 4}).find("loop") == std::string::npos);
  CHECK(lstm({9, "N", 4}) == "matmul broadcast broadcast" + loop + "f32[9,1,N,3]");
  CHECK(lstm({"T", 2, 4}) == "matmul" + loop + "f32[T,1,2,3]");
  const auto rnn = [](std::int64_t steps, const Proto& state, const std::string& activation) {
    ModelBytes model;
    model.input("x", {steps, "N", 4}).initializer(floats("w", {1, 3, 4})).initializer(floats("r", {1, 3, 3}));
    model.initializer(state);
    model.node("RNN", {"x", "w", "r", "", "", "h"}, {"y"},
               {Proto().bytes(1, "activations").bytes(9, activation).number(20, 8)}, "n");
    return refusal_of(model.output("y"));
  };
  for (const std::int64_t steps : {8, 9}) {
    CHECK(rnn(steps, floats("h", {1, 1, 3}), "Foo") ==
          "node 'n' (RNN, opset 17): expected an activation that ONNX defines, got Foo");
    CHECK(rnn(steps, floats("h", {1, 1, 3}), "Tanh").starts_with("imported "));
    CHECK(rnn(steps, floats("h", {1, 1, 4}), "Tanh") ==
          "node 'n' (RNN, opset 17): expected the elements of [1,3] to equal those of [1,4], got 3 and 4");
  }
  CHECK(lstm({0, 2, 4}).ends_with("f32[0,1,2,3]"));
}

TEST_CASE("inputs of too low a rank are refused") {
  const std::vector<Proto> scalar_bias = {floats("a", {1, 5, 3}), floats("b", {1, 5, 5}), floats("c", {})};
  CHECK(summary({"RNN", {1, 3, 3}, scalar_bias}) ==
        "node 'n' (RNN, opset 17): expected a tensor of higher rank, got f32[]");
  const std::vector<Proto> scales = {floats("a", {2}), tensor("b", kUint8, {2}, std::string(2, '\0')),
                                     tensor("c", kUint8, {2, 3}, std::string(6, '\0'))};
  ModelBytes model;
  model.input("x", {2, 2}, kUint8)
      .initializer(scales[1])
      .initializer(tensor("w", kUint8, {2, 2}, std::string(4, '\0')));
  model.node("ConvInteger", {"x", "w", "b"}, {"y"}, {}, "n").output("y");
  CHECK(refusal_of(model) == "node 'n' (ConvInteger, opset 17): expected one scale and zero point, got i32[2]");
}

TEST_CASE("attention takes open sequences, and shares heads of keys") {
  ModelBytes model;
  model.opset = 23;
  model.input("q", {1, 8, "S", 16}).input("k", {1, 2, "T", 16}).input("v", {1, 2, "T", 16});
  model.node("Attention", {"q", "k", "v"}, {"y"}, {attribute("is_causal", 1)}, "n").output("y");
  CHECK(outputs_of(imported(model)) == "f32[1,8,S,16]");
  ModelBytes heads;
  heads.opset = 23;
  heads.input("q", {1, "S", 24})
      .node("Attention", {"q", "q", "q"}, {"y"}, {attribute("q_num_heads", 5)}, "n")
      .output("y");
  CHECK(refusal_of(heads) ==
        "node 'n' (Attention, opset 23): expected heads that divide the last dimension, got 5 for [1,S,24]");
}

TEST_CASE("Fourier transforms are products with matrices, up to a length") {
  CHECK(summary({"DFT", {"N", 8, 1}, {}, {attribute("axis", 1)}}).ends_with(" f32[N,8,2]"));
  CHECK(summary({"DFT", {"N", 8, 1}, {}, {attribute("axis", 1), attribute("onesided", 1)}}).ends_with(" f32[N,5,2]"));
  CHECK(summary({"DFT", {1, 5000, 1}, {}, {attribute("axis", 1)}}) ==
        "node 'n' (DFT, opset 17): expected transforms of 1 to 4096 elements, got 5000");
}

TEST_CASE("the indices of maxima are those of the whole input") {
  CHECK(import_case({"MaxPool", {2, 3, 8}, {}, {attribute("kernel_shape", {2}), attribute("strides", {2})}, 17, 2})
            .ends_with("i64[2,3,4]"));
  CHECK(summary({"MaxUnpool",
                 {4, 3, 4},
                 {tensor("a", kInt64, {2, 3, 4}, std::string(192, '\0'))},
                 {attribute("kernel_shape", {2})}}) ==
        "node 'n' (MaxUnpool, opset 17): expected the elements of [48] to equal those of [2,3,4], got 48 and 24");
}

TEST_CASE("constants that many nodes make are bounded together") {
  ModelBytes model;
  model.input("x", {1, 1, 4}).initializer(tensor("none", kFloat, {0}, "")).initializer(integers("size", {1, 1, 65536}));
  for (int i = 0; i < 80; ++i) {
    model.node("Resize", {"x", "none", "none", "size"}, {"y" + std::to_string(i)}, {}, "n" + std::to_string(i));
    model.output("y" + std::to_string(i));
  }
  CHECK(refusal_of(model).find("expected fewer than 2^22 elements in all constants that the import makes, got more") !=
        std::string::npos);
}

TEST_CASE("sizes that would fill the memory are refused") {
  const std::int64_t large = std::int64_t{1} << 30;
  CHECK(
      summary({"Resize", {1, 1, 4}, {floats("a", {0}), floats("b", {0}), integers("c", {1, 1, large})}}) ==
      "node 'n' (Resize, opset 17): expected results of 1 to 65536 elements in each dimension, got 1073741824.000000");
  CHECK(summary({"Col2Im", {1, 4, 4}, {integers("a", {large, 4}), integers("b", {2, 2})}, {}, 18}) ==
        "node 'n' (Col2Im, opset 18): expected sizes and padding from 0 to 2^20, got 1073741824");
}

TEST_CASE("windows, strides and padding beyond any image are refused") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<Proto> lp = {attribute("kernel_shape", {2}), attribute("ceil_mode", 1), attribute("strides", {2}),
                                 attribute("pads", {0, kMost})};
  CHECK(summary({"LpPool", {1, 1, 8}, {}, lp, 18}) ==
        "node 'n' (LpPool, opset 18): expected padding from 0 to 2^40, got 9223372036854775807");
  CHECK(
      summary(
          {"MaxPool", {1, 1, 8}, {}, {attribute("kernel_shape", {-kMost - 1}), attribute("auto_pad", "SAME_UPPER")}}) ==
      "node 'n' (MaxPool, opset 17): expected kernel sizes, strides and dilations from 1 to 2^40, got "
      "-9223372036854775808");
}

TEST_CASE("antialias over more elements than it weighs is refused") {
  const std::int64_t large = std::int64_t{1} << 40;
  CHECK(summary({"Resize",
                 {1, 1, large},
                 {floats("a", {0}), floats("b", {0}), integers("c", {1, 1, 1})},
                 {attribute("mode", "linear"), attribute("antialias", 1)},
                 18}) ==
        "node 'n' (Resize, opset 18): expected antialias of at most 64 elements for one of the result, got a scale of "
        "0.000000");
}

TEST_CASE("numbers that an integer type does not hold are refused") {
  ModelBytes leaky;
  leaky.input("x", {2}, kInt32).node("LeakyRelu", {"x"}, {"y"}, {attribute("alpha", INFINITY)}, "n").output("y");
  CHECK(refusal_of(leaky) == "node 'n' (LeakyRelu, opset 17): expected a value of i32, got inf");
  const Proto values = floats("b", {2});
  CHECK(summary({"OneHot", {2}, {tensor("a", kFloat, {}, raw<float>({NAN})), values}}) ==
        "node 'n' (OneHot, opset 17): expected the depth as an integer, got nan");
  CHECK(summary({"OneHot", {2}, {tensor("a", kFloat, {}, raw<float>({2.5F})), values}}) ==
        "node 'n' (OneHot, opset 17): expected the depth as an integer, got 2.500000");
  CHECK(summary({"OneHot", {2}, {tensor("a", kFloat, {}, raw<float>({2})), values}}).ends_with(" f32[2,2]"));
}

TEST_CASE("attention refuses integers, and past keys of another rank") {
  const auto attention = [](std::int64_t type, const std::vector<Dim>& past, std::int64_t mask_type) {
    ModelBytes model;
    model.opset = 23;
    const std::vector<Dim> heads = {1, 1, 2, 4};
    model.input("q", heads, type).input("k", heads, type).input("v", heads, type);
    model.input("mask", {2, 2}, mask_type).input("past", past);
    const std::string given = past.empty() ? "" : "past";
    model.node("Attention", {"q", "k", "v", "mask", given, given}, {"y"}, {}, "n").output("y");
    return refusal_of(model);
  };
  CHECK(attention(kInt32, {}, kBool) ==
        "node 'n' (Attention, opset 23): expected queries, keys and values of floats, got i32[1,1,2,4]");
  CHECK(attention(kFloat, {}, kInt32) ==
        "node 'n' (Attention, opset 23): expected a mask of bools or floats, got i32[2,2]");
  CHECK(attention(kFloat, {2, 4}, kBool) == "node 'n' (Attention, opset 23): expected past keys of rank 4, got [2,4]");
}

TEST_CASE("parameters of activations that no function has are refused") {
  const auto gru = [](const Proto& alphas) {
    const Proto activations = Proto().bytes(1, "activations").bytes(9, "Sigmoid").bytes(9, "LeakyRelu").number(20, 8);
    return summary({"GRU", {1, 1, 4}, {floats("a", {1, 9, 4}), floats("b", {1, 9, 3})}, {activations, alphas}});
  };
  const Proto alphas = Proto().bytes(1, "activation_alpha").real(7, 0.1F).number(20, 6);
  CHECK(gru(alphas).ends_with(" f32[1,1,1,3]"));
  CHECK(
      gru(Proto(alphas).real(7, 0.2F)) ==
      "node 'n' (GRU, opset 17): expected a value of activation_alpha for functions that have one alone, got 2 for 1");
}

}  // namespace
}  // namespace ferry::test
