// The import of single nodes.
#include <doctest/doctest.h>

#include "tests/unit/host/graph/onnx/import_case.h"

namespace ferry::test {
namespace {

TEST_CASE("convolutions and pooling pad as auto_pad says") {
  const auto same = [](const char* mode) {
    return std::vector<Proto>{attribute("auto_pad", mode), attribute("strides", {2, 2})};
  };
  CHECK(import_case({"Conv", {1, 3, 7, 8}, {floats("a", {4, 3, 3, 3})}, same("SAME_UPPER")}) ==
        "conv(x,a) f32[1,4,4,4]");
  CHECK(import_case({"Conv", {1, 3, 7, 8}, {floats("a", {4, 3, 3, 3})}, same("VALID")}) == "conv(x,a) f32[1,4,3,3]");
  const std::string open = import_case({"Conv", {1, 3, "H", 8}, {floats("a", {4, 3, 3, 3})}, same("SAME_LOWER")});
  CAPTURE(open);
  CHECK(open.starts_with("pad(x) f32[1,3,"));
  CHECK(open.ends_with("f32[1,4,(H+1)/2,4]"));
  CHECK(import_case({"Conv", {1, 3, "H", 8}, {floats("a", {4, 3, 3, 3})}, {attribute("auto_pad", "SAME_LOWER")}}) ==
        "conv(x,a) f32[1,4,H,8]");
  CHECK(import_case({"AveragePool",
                     {1, 3, 8},
                     {},
                     {attribute("kernel_shape", {3}), attribute("ceil_mode", 1), attribute("strides", {2})}}) ==
        "average_pool(x) f32[1,3,4]");
  CHECK(import_case({"AveragePool", {1, 3, 8}, {}, {attribute("kernel_shape", {3})}, 17, 2}) ==
        "node 'n' (AveragePool, opset 17): expected only outputs that ferry computes, got 'y1'");
  CHECK(import_case({"GlobalMaxPool", {"N", 3, 8, 8}}) == "reduce_max(x) f32[N,3,1,1]");
}

TEST_CASE("Gemm scales and transposes") {
  CHECK(import_case({"Gemm", {"N", 4}, {floats("a", {4, 3}), floats("b", {1, 3})}, {attribute("alpha", 2.0F)}}) ==
        "matmul(x,a) f32[N,3]\nmul(n,n) f32[N,3]\nadd(n,b) f32[N,3]");
  CHECK(import_case({"Gemm", {4, "N"}, {floats("a", {3, 4})}, {attribute("transA", 1), attribute("transB", 1)}}) ==
        "matmul(x,a) f32[N,3]");
  CHECK(import_case({"Gemm", {2, 4}, {floats("a", {4, 3}), floats("b", {5, 2, 3})}}) ==
        "node 'n' (Gemm, opset 17): expected C to broadcast to [2,3], got [5,2,3]");
}

TEST_CASE("softmax before opset 13 works on all dimensions from its axis on") {
  CHECK(import_case({"Softmax", {"N", 3, 4}, {}, {}, 13}) == "softmax(x) f32[N,3,4]");
  CHECK(import_case({"Softmax", {"N", 3, 4}, {}, {}, 11}) ==
        "reshape(x) f32[N,12]\nsoftmax(n) f32[N,12]\nreshape(n) f32[N,3,4]");
  CHECK(import_case({"Softmax", {"N", 4}, {}, {}, 11}) == "softmax(x) f32[N,4]");
}

TEST_CASE("layer normalisation repeats its parameters over the normalised dimensions") {
  CHECK(import_case({"LayerNormalization", {"N", 3, 4}, {floats("a", {4}), floats("b", {4})}}) ==
        "layer_norm(x,a,b) f32[N,3,4]");
  CHECK(import_case({"LayerNormalization", {"N", 3, 4}, {floats("a", {4})}, {attribute("axis", 1)}}) ==
        "layer_norm(x,n,n) f32[N,3,4]");
}

TEST_CASE("reductions read their axes from an attribute or an input") {
  CHECK(import_case({"ReduceMean", {"N", 3, 4}, {}, {attribute("axes", {-1, 1})}}) == "reduce_mean(x) f32[N,1,1]");
  CHECK(import_case({"ReduceMean", {"N", 3, 4}, {integers("a", {2})}, {attribute("keepdims", 0)}, 18}) ==
        "reduce_mean(x) f32[N,3]");
  CHECK(import_case({"ReduceSum", {2, 3}, {}, {}}) == "reduce_sum(x) f32[1,1]");
  CHECK(import_case({"ReduceSum", {2, 3}, {}, {attribute("noop_with_empty_axes", 1)}}).empty());
  CHECK(import_case({"ReduceL2", {2, 3}, {}, {attribute("axes", {1})}}) ==
        "mul(x,x) f32[2,3]\nreduce_sum(n) f32[2,1]\nsqrt(n) f32[2,1]");
  CHECK(import_case({"ReduceMean", {2, 3}, {}, {attribute("axes", {2})}}) ==
        "node 'n' (ReduceMean, opset 17): expected an axis of a tensor of rank 2, got 2");
}

TEST_CASE("activations become few elementwise operators") {
  CHECK(import_case({"Clip", {2}, {scalar("a", 0), scalar("b", 6)}}) == "relu(x) f32[2]\nminimum(n,b) f32[2]");
  CHECK(import_case({"Clip", {2}, {}, {attribute("min", -1.0F), attribute("max", 1.0F)}, 6}) ==
        "maximum(x,n) f32[2]\nminimum(n,n) f32[2]");
  CHECK(import_case({"Clip", {2}, {Proto(), scalar("b", 6)}}) == "minimum(x,b) f32[2]");
  CHECK(import_case({"HardSwish", {2}}) ==
        "mul(x,n) f32[2]\nadd(n,n) f32[2]\nrelu(n) f32[2]\nminimum(n,n) f32[2]\nmul(x,n) f32[2]");
  CHECK(import_case({"HardSigmoid", {2}}) == "mul(x,n) f32[2]\nadd(n,n) f32[2]\nrelu(n) f32[2]\nminimum(n,n) f32[2]");
  CHECK(import_case({"LeakyRelu", {2}}) == "mul(x,n) f32[2]\nless(x,n) bool[2]\nwhere(n,n,x) f32[2]");
  CHECK(import_case({"Gelu", {2}, {}, {}, 20}) ==
        "mul(x,n) f32[2]\nerf(n) f32[2]\nmul(x,n) f32[2]\nadd(n,n) f32[2]\nmul(n,n) f32[2]");
  CHECK(import_case({"PRelu", {1, 3, 2}, {floats("a", {3, 1})}}) ==
        "mul(x,a) f32[1,3,2]\nless(x,n) bool[1,3,2]\nwhere(n,n,x) f32[1,3,2]");
}

TEST_CASE("elementwise operators swap, chain and broadcast") {
  CHECK(import_case({"Greater", {"N", 3}, {floats("a", {3})}}) == "less(a,x) bool[N,3]");
  CHECK(import_case({"Sum", {"N", 3}, {floats("a", {3}), floats("b", {1})}}) == "add(x,a) f32[N,3]\nadd(n,b) f32[N,3]");
  CHECK(import_case({"Pow", {2}, {tensor("a", kInt64, {}, raw<std::int64_t>({2}))}}) == "pow(x,n) f32[2]");
  CHECK(import_case({"Xor", {2}, {tensor("a", kBool, {2}, "\1\1")}}) ==
        "node 'n' (Xor, opset 17): expected inputs of one type, got f32 and bool");
  CHECK(import_case({"Add", {1, 3, 4}, {floats("a", {3})}, {attribute("broadcast", 1), attribute("axis", 1)}, 6}) ==
        "add(x,n) f32[1,3,4]");
  CHECK(import_case({"Add", {1, 3, 4}, {floats("a", {3})}}) ==
        "node 'n' (Add, opset 17): expected shapes that broadcast, got [1,3,4] and [3]");
  CHECK(import_case({"Cast", {2}, {}, {attribute("to", 8)}}) ==
        "node 'n' (Cast, opset 17): expected a type that ferry has, got string");
}

TEST_CASE("reshapes infer one size and repeat others") {
  CHECK(import_case({"Reshape", {"N", 3, 4}, {integers("a", {0, -1})}}) == "reshape(x) f32[N,12]");
  CHECK(import_case({"Reshape", {"N", 3, 4}, {integers("a", {-1, 6})}}) == "reshape(x) f32[N*2,6]");
  CHECK(import_case({"Reshape", {"N", 3}, {integers("a", {-1, 2})}}) == "reshape(x) f32[N*3/2,2]");
  CHECK(import_case({"Reshape", {5, 3}, {integers("a", {-1, 2})}}) ==
        "node 'n' (Reshape, opset 17): expected a shape that the elements of [5,3] fill, got [-1,2]");
  CHECK(import_case({"Reshape", {"N", 3}, {integers("a", {-1, -1})}}) ==
        "node 'n' (Reshape, opset 17): expected one -1 at most, got [-1,-1]");
  CHECK(import_case({"Squeeze", {1, "N", 1}, {integers("a", {0})}}) == "reshape(x) f32[N,1]");
  CHECK(import_case({"Squeeze", {1, "N", 1}, {}, {attribute("axes", {0, 2})}, 11}) == "reshape(x) f32[N]");
  CHECK(import_case({"Unsqueeze", {"N", 3}, {integers("a", {-1, 0})}}) == "reshape(x) f32[1,N,3,1]");
  CHECK(import_case({"Flatten", {2, "N", 3}, {}, {attribute("axis", -1)}}) == "reshape(x) f32[2*N,3]");
  CHECK(import_case({"Transpose", {2, "N", 3}}) == "transpose(x) f32[3,N,2]");
  CHECK(import_case({"Transpose", {2, 3}, {}, {attribute("perm", {0, 1})}}).empty());
}

TEST_CASE("slices clamp their bounds") {
  const auto slice = [](std::int64_t start, std::int64_t end, std::int64_t step, const Dim& size) {
    return import_case(
        {"Slice", {size}, {integers("a", {start}), integers("b", {end}), integers("c", {0}), integers("d", {step})}});
  };
  constexpr std::int64_t kEnd = INT64_MAX;
  CHECK(slice(1, kEnd, 1, 6) == "slice(x) f32[5]");
  CHECK(slice(-2, kEnd, 1, 6) == "slice(x) f32[2]");
  CHECK(slice(0, 100, 2, 5) == "slice(x) f32[3]");
  CHECK(slice(-1, INT64_MIN, -1, 6) == "slice(x) f32[6]");
  CHECK(slice(4, 1, -2, 6) == "slice(x) f32[2]");
  CHECK(slice(3, 1, 1, 6) == "slice(x) f32[0]");
  CHECK(slice(0, kEnd, 1, "N").empty());
  CHECK(slice(0, kEnd, 0, 6) == "node 'n' (Slice, opset 17): expected steps other than 0, got 0");
  CHECK(import_case(
            {"Slice", {"N", 6}, {}, {attribute("starts", {1}), attribute("ends", {3}), attribute("axes", {1})}, 9}) ==
        "slice(x) f32[N,2]");
}

TEST_CASE("tensors are split, joined, padded and gathered") {
  CHECK(import_case({"Split", {"N", 7}, {}, {attribute("axis", 1), attribute("num_outputs", 2)}, 18, 2}) ==
        "slice(x) f32[N,4]\nslice(x) f32[N,3]");
  CHECK(import_case({"Split", {"N", 7}, {integers("a", {2, 5})}, {attribute("axis", 1)}, 13, 2}) ==
        "slice(x) f32[N,2]\nslice(x) f32[N,5]");
  CHECK(import_case({"Split", {"N", 7}, {integers("a", {2, 4})}, {attribute("axis", 1)}, 13, 2}) ==
        "node 'n' (Split, opset 13): expected sizes that make up 7, got [2,4]");
  CHECK(import_case({"Concat", {"N", 7}, {floats("a", {1, 7})}, {attribute("axis", 0)}}) == "concat(x,a) f32[N+1,7]");
  CHECK(import_case({"Pad", {"N", 7}, {integers("a", {0, 1, 0, 2})}}) == "pad(x) f32[N,10]");
  CHECK(import_case({"Pad", {"N", 7}, {integers("a", {0, -1, 0, 2})}}) == "slice(x) f32[N,6]\npad(n) f32[N,8]");
  CHECK(import_case({"Pad", {2, 7}, {integers("a", {0, 1, 0, 2})}, {attribute("mode", "reflect")}}) ==
        "gather(x,n) f32[2,10]");
  CHECK(import_case({"Pad", {2, 7}, {integers("a", {0, 1, 0, 2})}, {attribute("mode", "mirror")}}) ==
        "node 'n' (Pad, opset 17): expected the mode constant, reflect, edge or wrap, got mirror");
  CHECK(import_case({"Gather", {"N", 7}, {integers("a", {1, 2})}, {attribute("axis", 1)}}) == "gather(x,a) f32[N,2]");
  CHECK(import_case({"Expand", {3, 1}, {integers("a", {2, 1, 4})}}) == "broadcast(x) f32[2,3,4]");
}

TEST_CASE("blocks of elements are moved by reshapes and transposes") {
  CHECK(import_case({"DepthToSpace", {"N", 8, 2, 3}, {}, {attribute("blocksize", 2)}}) ==
        "reshape(x) f32[N,2,2,2,2,3]\ntranspose(n) f32[N,2,2,2,3,2]\nreshape(n) f32[N,2,4,6]");
  CHECK(import_case({"DepthToSpace", {"N", 6, 2, 3}, {}, {attribute("blocksize", 2)}}) ==
        "node 'n' (DepthToSpace, opset 17): expected sizes that the blocks divide, got 6");
  CHECK(import_case({"Tile", {"N", 2}, {integers("a", {1, 3})}}) ==
        "reshape(x) f32[N,1,2]\nbroadcast(n) f32[N,3,2]\nreshape(n) f32[N,6]");
  CHECK(import_case({"Trilu", {4, 2}}) == "where(mask,x,n) f32[4,2]");
  CHECK(import_case({"Trilu", {"N", 2}}) ==
        "iota() i64[N]\nreshape(n) i64[N,1]\nless_equal(n,n) bool[N,2]\nwhere(n,x,n) f32[N,2]");
}

TEST_CASE("images are interpolated along the dimensions that change") {
  const Proto none = tensor("a", kFloat, {0}, ""), twice = tensor("b", kFloat, {4}, raw<float>({1, 1, 2, 1}));
  CHECK(import_case({"Resize", {"N", 3, 4, 5}, {none, twice}}) == "gather(x,n) f32[N,3,8,5]");
  CHECK(import_case({"Resize", {"N", 3, "H", 5}, {none, twice}}).ends_with("gather(x,n) f32[N,3,H*2,5]"));
  const Proto region = tensor("a", kFloat, {8}, raw<float>({0, 0, 0, 0, 1, 1, 0.5F, 1}));
  CHECK(import_case({"Resize",
                     {"N", 3, "H", 5},
                     {region, twice},
                     {attribute("coordinate_transformation_mode", "tf_crop_and_resize")}}) ==
        "node 'n' (Resize, opset 17): expected a known size of the dimensions that change, got [N,3,H,5]");
  ModelBytes open;
  open.input("x", {"N", 3, 4, 5}).initializer(integers("rest", {3, 8, 5})).initializer(integers("first", {0}));
  open.initializer(tensor("none", kFloat, {0}, ""))
      .node("Shape", {"x"}, {"shape"})
      .node("Gather", {"shape", "first"}, {"n"});
  open.node("Concat", {"n", "rest"}, {"size"}, {attribute("axis", 0)})
      .node("Resize", {"x", "none", "none", "size"}, {"y"});
  CHECK(outputs_of(imported(open.output("y"))) == "f32[N,3,8,5]");
  CHECK(import_case({"Resize", {"N", 3, 4, 5}, {none, twice}, {attribute("mode", "area")}}) ==
        "node 'n' (Resize, opset 17): expected mode to be one of nearest, linear, cubic, got area");
}

TEST_CASE("dropout is left out, and refused in training mode") {
  const Proto yes = tensor("b", kBool, {}, "\x01"), no = tensor("b", kBool, {}, std::string(1, '\0'));
  CHECK(import_case({"Dropout", {2}, {scalar("a", 0.5F), no}}).empty());
  ModelBytes unread;
  unread.input("x", {2}).node("Dropout", {"x"}, {"y", "mask"}).output("y");
  CHECK(outputs_of(imported(unread)) == "f32[2]");
  CHECK(import_case({"Dropout", {2}, {scalar("a", 0.5F), yes}}) ==
        "node 'n' (Dropout, opset 17): expected a network for inference, got training mode");
}

TEST_CASE("a squeeze of all dimensions of size 1 keeps open ones if the model declares so") {
  const auto squeezed = [](const std::vector<Dim>& declared, const graph::onnx::ImportOptions& options = {}) {
    ModelBytes model;
    model.input("x", {"N", 1, 3}).node("Squeeze", {"x"}, {"y"}, {}, "n");
    model.part(12, declared.empty() ? Proto().bytes(1, "y") : value("y", kFloat, declared));
    return refusal_of(model, options);
  };
  CHECK(squeezed({"N", 3}) == "imported reshape(x) f32[N,3]");
  const std::string refusal =
      "node 'n' (Squeeze, opset 17): expected axes, or sizes that are known when the network is imported, because a "
      "size of 1 is removed, got [N,1,3]; fix the open ones: --fix N=SIZE";
  CHECK(squeezed({3}) == "imported reshape(x) f32[3]");  // N must be 1
  CHECK(squeezed({}) == refusal);
  CHECK(squeezed({}, {.sizes = {{"N", 1}}}) == "imported reshape(x) f32[3]");
  CHECK(squeezed({3}, {.sizes = {{"N", 1}}}) == "imported reshape(x) f32[3]");
  CHECK(squeezed({}, {.sizes = {{"N", 2}}}) == "imported reshape(x) f32[2,3]");
}

TEST_CASE("a squeeze has the rank that the model declares of what elementwise nodes compute from it") {
  ModelBytes model;
  model.input("x", {"N", 1, 3}).node("Squeeze", {"x"}, {"s"}).node("Sigmoid", {"s"}, {"y"});
  CHECK(text_of(imported(model.part(12, value("y", kFloat, {3})))) == "reshape(x) f32[3]\nsigmoid(s) f32[3]");
}

TEST_CASE("short signals have no last dimension") {
  CHECK(import_case({"STFT",
                     {2, 8},
                     {tensor("a", kInt64, {}, raw<std::int64_t>({4})), Proto(),
                      tensor("c", kInt64, {}, raw<std::int64_t>({4}))}})
            .ends_with("f32[2,2,3,2]"));
}

TEST_CASE("activations of recurrent networks are called as ONNX does, in any case") {
  const auto rnn = [](const char* name) {
    return import_case({"RNN",
                        {1, 1, 1},
                        {floats("a", {1, 1, 1}), floats("b", {1, 1, 1})},
                        {Proto().bytes(1, "activations").bytes(9, name).number(20, 8)}});
  };
  CHECK(rnn("leakyrelu") == rnn("LeakyRelu"));
  CHECK(rnn("LeakyRelu").find("where") != std::string::npos);
  CHECK(rnn("leaky") == "node 'n' (RNN, opset 17): expected an activation that ONNX defines, got leaky");
}

TEST_CASE("numbers that a type of integers has not are refused") {
  CHECK(import_case({"ThresholdedRelu", {2}}) == "less(n,x) bool[2]\nwhere(n,x,n) f32[2]");
  ModelBytes model;
  model.opset = 10;
  model.input("x", {2}, kInt32).node("LeakyRelu", {"x"}, {"y"}, {attribute("alpha", 0.5F)}, "n").output("y");
  CHECK(refusal_of(model) == "node 'n' (LeakyRelu, opset 10): expected a value of i32, got 0.500000");
}

}  // namespace
}  // namespace ferry::test
