#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "ferry/error.h"
#include "host/graph/graph.h"

namespace ferry::graph {
namespace {

const Size n = Size::symbol("N");

TensorType f32(Shape shape) { return {DType::f32, std::move(shape)}; }

std::string inferred(Operator op, const Attributes& attributes, const std::vector<TensorType>& inputs) {
  std::string text;
  for (const TensorType& type : infer_types({op, "a", {}, {}, attributes}, inputs)) text += to_text(type);
  return text;
}

std::string refusal(Operator op, const Attributes& attributes, const std::vector<TensorType>& inputs) {
  try {
    return "inferred " + inferred(op, attributes, inputs);
  } catch (const CompileError& error) {
    return error.what();
  }
}

TEST_CASE("a convolution's spatial sizes count the positions of its window") {
  const WindowAttributes window = {.kernel = 7, .stride = 2, .pad_before = 3, .pad_after = 3};
  const ConvAttributes conv = {{window, window}};
  CHECK(inferred(Operator::conv, conv, {f32({n, 3, 224, 224}), f32({64, 3, 7, 7}), f32({64})}) == "f32[N,64,112,112]");
  CHECK(inferred(Operator::conv, conv, {f32({1, 3, n, 224}), f32({64, 3, 7, 7})}) == "f32[1,64,(N-1)/2+1,112]");
  CHECK(inferred(Operator::conv, ConvAttributes{{{}, {}}, 32}, {f32({1, 32, 8, 8}), f32({64, 1, 1, 1})}) ==
        "f32[1,64,8,8]");
}

TEST_CASE("a convolution whose inputs do not fit is refused") {
  const ConvAttributes conv = {{{}, {}}};
  CHECK(refusal(Operator::conv, conv, {f32({1, 3, 8, 8}), f32({4, 2, 1, 1})}) ==
        "node 'a' (conv): expected the filters' channels times groups to equal the input's channels, got 2 and 3");
  CHECK(refusal(Operator::conv, ConvAttributes{{{.kernel = 9}, {}}}, {f32({1, 3, 8, 8}), f32({4, 3, 9, 1})}) ==
        "node 'a' (conv): expected a window that fits the padded input, got 9 for 8");
  CHECK(refusal(Operator::conv, conv, {f32({1, 3, 8, 8}), f32({4, 3, 1, 1}), f32({5})}) ==
        "node 'a' (conv): expected the bias's size to equal the number of filters, got 5 and 4");
  CHECK(refusal(Operator::conv, conv, {f32({1, 3, 8, 8})}) == "node 'a' (conv): expected 2 or 3 inputs, got 1");
}

TEST_CASE("pooling rounds down, or up as long as the last window begins inside the input") {
  const WindowAttributes window = {.kernel = 3, .stride = 2};
  CHECK(inferred(Operator::max_pool, PoolAttributes{{window}}, {f32({1, 1, 8})}) == "f32[1,1,3]");
  CHECK(inferred(Operator::max_pool, PoolAttributes{{window}, true}, {f32({1, 1, 8})}) == "f32[1,1,4]");
  const WindowAttributes padded = {.kernel = 1, .stride = 3, .pad_after = 1};
  CHECK(inferred(Operator::max_pool, PoolAttributes{{padded}, true}, {f32({1, 1, 3})}) == "f32[1,1,1]");
  CHECK(inferred(Operator::max_pool, PoolAttributes{{window}, true}, {f32({1, 1, 2})}) == "f32[1,1,1]");
  CHECK(refusal(Operator::max_pool, PoolAttributes{{window}, true}, {f32({1, 1, 1})}) ==
        "node 'a' (max_pool): expected a window that fits the padded input, got 3 for 1");
}

TEST_CASE("matrix products broadcast their batch dimensions and take vectors") {
  const MatmulAttributes plain, transposed = {.transposed_b = true};
  CHECK(inferred(Operator::matmul, plain, {f32({n, 8, 4, 5}), f32({8, 5, 6})}) == "f32[N,8,4,6]");
  CHECK(inferred(Operator::matmul, transposed, {f32({n, 512}), f32({1000, 512})}) == "f32[N,1000]");
  CHECK(inferred(Operator::matmul, plain, {f32({5}), f32({3, 5, 6})}) == "f32[3,6]");
  CHECK(inferred(Operator::matmul, plain, {f32({4, 5}), f32({5})}) == "f32[4]");
  CHECK(refusal(Operator::matmul, plain, {f32({4, 5}), f32({4, 5})}) ==
        "node 'a' (matmul): expected the first input's columns to equal the second's rows, got 5 and 4");
  CHECK(refusal(Operator::matmul, plain, {f32({}), f32({4, 5})}) ==
        "node 'a' (matmul): expected two tensors of rank 1 or more, got a scalar");
}

TEST_CASE("elementwise operators broadcast, and two symbols do only where they are the same") {
  const NoAttributes none;
  CHECK(inferred(Operator::add, none, {f32({n, 3, 1}), f32({3, 4})}) == "f32[N,3,4]");
  CHECK(inferred(Operator::less, none, {f32({n}), f32({})}) == "bool[N]");
  CHECK(refusal(Operator::add, none, {f32({n}), f32({3})}) ==
        "node 'a' (add): expected shapes that broadcast, got [N] and [3]");
  CHECK(refusal(Operator::mul, none, {f32({2}), {DType::i64, {2}}}) ==
        "node 'a' (mul): expected inputs of one type, got f32 and i64");
  CHECK(refusal(Operator::sqrt, none, {{DType::i32, {2}}}) == "node 'a' (sqrt): expected floats, got i32");
  CHECK(inferred(Operator::where, none, {{DType::boolean, {1, 4}}, f32({n, 1}), f32({})}) == "f32[N,4]");
}

TEST_CASE("operators that move elements keep or select their dimensions") {
  CHECK(inferred(Operator::transpose, TransposeAttributes{{1, 0, 2}}, {f32({n, 3, 4})}) == "f32[3,N,4]");
  CHECK(refusal(Operator::transpose, TransposeAttributes{{1, 1, 2}}, {f32({n, 3, 4})}) ==
        "node 'a' (transpose): expected a permutation of the dimensions, got another for [N,3,4]");
  CHECK(inferred(Operator::reshape, ReshapeAttributes{{n, 12}}, {f32({n, 3, 4})}) == "f32[N,12]");
  CHECK(refusal(Operator::reshape, ReshapeAttributes{{n, 11}}, {f32({n, 3, 4})}) ==
        "node 'a' (reshape): expected the elements of [N,11] to equal those of [N,3,4], got N*11 and N*12");
  CHECK(inferred(Operator::concat, DimensionAttributes{1}, {f32({n, 3}), f32({n, 4})}) == "f32[N,7]");
  CHECK(inferred(Operator::gather, DimensionAttributes{1}, {f32({n, 30, 4}), {DType::i64, {5, 6}}}) == "f32[N,5,6,4]");
  CHECK(inferred(Operator::broadcast, BroadcastAttributes{{n, 3, 4}}, {f32({3, 1})}) == "f32[N,3,4]");
  CHECK(inferred(Operator::pad, PadAttributes{{1, 0}, {2, 0}}, {f32({n, 3})}) == "f32[N+3,3]");
}

TEST_CASE("a slice lies inside its input") {
  CHECK(inferred(Operator::slice, SliceAttributes{{1}, {2}, {3}}, {f32({6})}) == "f32[3]");
  CHECK(inferred(Operator::slice, SliceAttributes{{5}, {-1}, {6}}, {f32({6})}) == "f32[6]");
  CHECK(refusal(Operator::slice, SliceAttributes{{1}, {2}, {4}}, {f32({6})}) ==
        "node 'a' (slice): expected elements inside the input, got 1 to 7 of a dimension of 6");
  CHECK(inferred(Operator::slice, SliceAttributes{{0}, {1}, {n}}, {f32({n + 1})}) == "f32[N]");
  CHECK(refusal(Operator::slice, SliceAttributes{{0}, {1}, {-1}}, {f32({6})}) ==
        "node 'a' (slice): expected a slice of 0 or more elements, got [-1]");
}

TEST_CASE("reductions drop or keep their dimensions") {
  CHECK(inferred(Operator::reduce_mean, ReduceAttributes{{2, 3}, true}, {f32({n, 8, 7, 7})}) == "f32[N,8,1,1]");
  CHECK(inferred(Operator::reduce_sum, ReduceAttributes{{0, 2}}, {f32({n, 8, 7})}) == "f32[8]");
  CHECK(refusal(Operator::reduce_sum, ReduceAttributes{{2, 0}}, {f32({n, 8, 7})}) ==
        "node 'a' (reduce_sum): expected ascending dimensions of the input to reduce, got others for [N,8,7]");
}

TEST_CASE("means and normalisations are of floats") {
  const TensorType integers{DType::i64, {2, 3}};
  CHECK(refusal(Operator::reduce_mean, ReduceAttributes{{0}}, {integers}) ==
        "node 'a' (reduce_mean): expected floats, got i64");
  CHECK(refusal(Operator::softmax, DimensionAttributes{0}, {integers}) ==
        "node 'a' (softmax): expected floats, got i64");
}

TEST_CASE("normalisations have parameters of the normalised dimensions") {
  const std::vector<TensorType> channels = {f32({n, 8, 7}), f32({8}), f32({8}), f32({8}), f32({8})};
  CHECK(inferred(Operator::batch_norm, BatchNormAttributes{}, channels) == "f32[N,8,7]");
  CHECK(inferred(Operator::layer_norm, LayerNormAttributes{1}, {f32({n, 8, 7}), f32({8, 7}), f32({8, 7})}) ==
        "f32[N,8,7]");
  CHECK(refusal(Operator::layer_norm, LayerNormAttributes{2}, {f32({n, 8, 7}), f32({8}), f32({7})}) ==
        "node 'a' (layer_norm): expected a scale and a bias of shape [7], got [8]");
}

}  // namespace
}  // namespace ferry::graph
