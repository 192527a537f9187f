#include <doctest/doctest.h>

#include "tests/unit/module/sample_manifest.h"

namespace ferry {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

std::string refusal(const FunctionInfo& function, const std::vector<ArgumentShape>& arguments) {
  const Result<BoundCall> call = bind_call(function, arguments);
  REQUIRE_FALSE(call.is_ok());
  CHECK(call.status().code() == ErrorCode::invalid_argument);
  return call.status().message();
}

TEST_CASE("a call that fits binds its sizes and says how many bytes it touches") {
  const std::vector<ArgumentShape> arguments{tensor(DType::f32, {64, 100}), tensor(DType::f32, {100, 7}),
                                             tensor(DType::f32, {64, 7})};
  const Result<BoundCall> call = bind_call(sample_mm(), arguments);
  REQUIRE_MESSAGE(call.is_ok(), call.status().message());
  CHECK(call.value().symbols == std::vector<std::int64_t>{64, 100, 7});
  CHECK(call.value().tensor_bytes == std::vector<std::uint64_t>{25600, 2800, 1792});
}

TEST_CASE("constants bind the sizes that they determine, and other arguments are ignored") {
  FunctionInfo layer = sample_layer();
  const ManifestExpr m = manifest_symbol(0), n = manifest_symbol(2);
  layer.preconditions = {{manifest_apply(ManifestOp::le, {n, manifest_constant(10)}), "few columns"},
                         {manifest_apply(ManifestOp::lt, {m, n}), "depends on a call"}};
  const auto bind = [&](const ArgumentShape& b) {
    return bind_call(layer, std::vector<ArgumentShape>{{}, b, {}}, GivenArguments::constants);
  };
  const Result<BoundCall> bound = bind(tensor(DType::f32, {100, 7}));
  REQUIRE_MESSAGE(bound.is_ok(), bound.status().message());
  CHECK(bound.value().symbols == std::vector<std::int64_t>{0, 100, 7});
  CHECK(bound.value().tensor_bytes == std::vector<std::uint64_t>{0, 2800, 0});
  CHECK(bind(tensor(DType::i32, {100, 7})).status().message() ==
        "layer: argument 2 'B': expected f32[K,N], got i32[100,7]");
  CHECK(bind(tensor(DType::f32, {100, 11})).status().message().find("layer: few columns") == 0);
}

TEST_CASE("scalars bind sizes, and a size computed from them is checked") {
  const std::vector<ArgumentShape> arguments{tensor(DType::f32, {100}), scalar(DType::i64, 10), scalar(DType::i64, 3),
                                             scalar(DType::f64, 0), tensor(DType::f32, {30})};
  const Result<BoundCall> call = bind_call(sample_slice(), arguments);
  REQUIRE_MESSAGE(call.is_ok(), call.status().message());
  CHECK(call.value().symbols == std::vector<std::int64_t>{100, 10, 3});
  CHECK(call.value().tensor_bytes == std::vector<std::uint64_t>{400, 0, 0, 0, 120});
}

TEST_CASE("each mistake in a call is named with the argument, what was expected and what came") {
  const FunctionInfo mm = sample_mm();
  const ArgumentShape a = tensor(DType::f32, {64, 100});
  const ArgumentShape b = tensor(DType::f32, {100, 7});
  const ArgumentShape c = tensor(DType::f32, {64, 7});
  CHECK(refusal(mm, {a, b}) == "mm: expected 3 arguments, got 2");
  CHECK(refusal(mm, {a, tensor(DType::f64, {100, 7}), c}) == "mm: argument 2 'B': expected f32[100,N], got f64[100,7]");
  CHECK(refusal(mm, {tensor(DType::f32, {64}), b, c}) == "mm: argument 1 'A': expected f32[M,K], got f32[64]");
  CHECK(refusal(mm, {a, tensor(DType::f32, {64, 7}), c}) == "mm: argument 2 'B': expected f32[100,7], got f32[64,7]");
  CHECK(refusal(mm, {a, b, tensor(DType::f32, {7, 64})}) == "mm: argument 3 'C': expected f32[64,7], got f32[7,64]");
  CHECK(refusal(mm, {a, scalar(DType::f32, 1), c}) == "mm: argument 2 'B': expected f32[100,N], got a scalar f32");
  CHECK(refusal(mm, {tensor(DType::f32, {-1, 100}), b, c}) ==
        "mm: argument 1 'A': expected sizes of at least 0, got f32[-1,100]");

  const FunctionInfo slice = sample_slice();
  const ArgumentShape alpha = scalar(DType::f64, 0);
  const ArgumentShape whole = tensor(DType::f32, {100});
  CHECK(refusal(slice, {whole, scalar(DType::i32, 10), scalar(DType::i64, 3), alpha, tensor(DType::f32, {30})}) ==
        "slice: argument 2 'b': expected a scalar i64, got a scalar i32");
  CHECK(refusal(slice, {whole, tensor(DType::i64, {}), scalar(DType::i64, 3), alpha, tensor(DType::f32, {30})}) ==
        "slice: argument 2 'b': expected a scalar i64, got i64[]");
  CHECK(refusal(slice, {whole, scalar(DType::i64, 10), scalar(DType::i64, 3), alpha, tensor(DType::f32, {31})}) ==
        "slice: argument 5 'Y': expected f32[30], got f32[31]");
  CHECK(refusal(slice, {whole, scalar(DType::i64, 10), scalar(DType::i64, 0), alpha, tensor(DType::f32, {30})}) ==
        "slice: argument 5 'Y': size (n - b) / s: division by zero, got n = 100, b = 10, s = 0");
}

TEST_CASE("a precondition that does not hold is shown with its message and the sizes in it") {
  FunctionInfo slice = sample_slice();
  slice.parameters[4].shape = {manifest_constant(3)};
  const auto call = [&](std::int64_t begin, std::int64_t step) {
    return refusal(slice, {tensor(DType::f32, {100}), scalar(DType::i64, begin), scalar(DType::i64, step),
                           scalar(DType::f64, 0), tensor(DType::f32, {3})});
  };
  CHECK(call(101, 1) == "slice: the slice begins inside (requires b <= n, got n = 100, b = 101)");
  CHECK(call(0, 0) == "slice: requires 0 < s, got s = 0");
}

TEST_CASE("sizes whose product leaves 63 bits are refused, not wrapped") {
  const FunctionInfo mm = sample_mm();
  CHECK(refusal(mm,
                {tensor(DType::f32, {kHuge, kHuge}), tensor(DType::f32, {kHuge, 1}), tensor(DType::f32, {kHuge, 1})}) ==
        "mm: argument 1 'A': expected a tensor of fewer than 2^63 bytes, got f32[1099511627776,1099511627776]");
  // The number of elements, 2^40 * 2^22, fits into 63 bits, but the number of bytes does not.
  CHECK(refusal(mm, {tensor(DType::f32, {kHuge, 1 << 22}), tensor(DType::f32, {1 << 22, 1}),
                     tensor(DType::f32, {kHuge, 1})}) ==
        "mm: argument 1 'A': expected a tensor of fewer than 2^63 bytes, got f32[1099511627776,4194304]");
  CHECK(bind_call(mm, std::vector<ArgumentShape>{tensor(DType::f32, {kHuge, 1 << 20}), tensor(DType::f32, {1 << 20, 1}),
                                                 tensor(DType::f32, {kHuge, 1})})
            .value()
            .tensor_bytes[0] == std::uint64_t{1} << 62);
}

TEST_CASE("a tensor without elements has no bytes whatever its other sizes are") {
  CHECK(dense_bytes(DType::f32, std::vector<std::int64_t>{kHuge, kHuge, 0}) == 0);
  CHECK(dense_bytes(DType::f32, std::vector<std::int64_t>{}) == 4);
  CHECK_FALSE(dense_bytes(DType::u8, std::vector<std::int64_t>{kHuge, 1 << 23}).has_value());
  CHECK(dense_bytes(DType::u8, std::vector<std::int64_t>{kHuge, 1 << 22}) == std::uint64_t{1} << 62);
  const Result<BoundCall> call = bind_call(
      sample_mm(),
      std::vector<ArgumentShape>{tensor(DType::f32, {0, 5}), tensor(DType::f32, {5, 3}), tensor(DType::f32, {0, 3})});
  REQUIRE(call.is_ok());
  CHECK(call.value().tensor_bytes == std::vector<std::uint64_t>{0, 60, 0});
}

TEST_CASE("a strided tensor reaches from its first to its last element") {
  FunctionInfo view;
  view.name = "view";
  view.symbols = {"n", "m", "ld"};
  view.parameters = {{"A",
                      ParameterKind::tensor,
                      DType::f32,
                      Direction::in,
                      {manifest_symbol(0), manifest_symbol(1)},
                      {manifest_symbol(2), manifest_constant(1)}},
                     {"ld", ParameterKind::scalar, DType::i64, Direction::in, {}, {}}};
  const auto call = [&](std::int64_t n, std::int64_t m, std::int64_t ld) {
    return bind_call(view, std::vector<ArgumentShape>{tensor(DType::f32, {n, m}), scalar(DType::i64, ld)});
  };
  CHECK(call(3, 4, 10).value().tensor_bytes[0] == (2 * 10 + 3 + 1) * 4);
  CHECK(call(0, 4, 10).value().tensor_bytes[0] == 0);
  CHECK(call(3, 4, -1).status().message() == "view: argument 1 'A': expected strides of at least 0, got -1");
  CHECK(call(kHuge, 4, kHuge).status().message() ==
        "view: argument 1 'A': expected a tensor of fewer than 2^63 bytes, got f32[1099511627776,4]");
}

TEST_CASE("a client learns the shapes of outputs from the inputs alone") {
  const FunctionInfo mm = sample_mm();
  const std::vector<ArgumentShape> arguments{tensor(DType::f32, {2, 3}), tensor(DType::f32, {3, 4}), {}};
  const Result<std::vector<std::int64_t>> symbols = bind_symbols(mm, arguments);
  REQUIRE_MESSAGE(symbols.is_ok(), symbols.status().message());
  const auto shapes = infer_shapes(mm, symbols.value());
  REQUIRE(shapes.is_ok());
  CHECK(shapes.value() == std::vector<std::vector<std::int64_t>>{{2, 3}, {3, 4}, {2, 4}});
  CHECK(infer_shapes(mm, std::vector<std::int64_t>{1, 2}).status().message() == "mm: expected 3 sizes, got 2");
  CHECK(infer_shapes(sample_slice(), std::vector<std::int64_t>{1, 5, 1}).status().message() ==
        "slice: argument 5 'Y': expected sizes of at least 0, got (n - b) / s = -4");
}

TEST_CASE("a signature reads as it would in a program") {
  CHECK(signature_text(sample_mm()) == "mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)");
  CHECK(signature_text(sample_slice()) ==
        "slice(in f32[n] A, in i64 b, in i64 s, in f64 alpha, inout f32[(n - b) / s] Y)");
  CHECK(shape_text(DType::f32, std::vector<std::int64_t>{64, 100}) == "f32[64,100]");
  CHECK(shape_text(DType::boolean, {}) == "bool[]");
}

}  // namespace
}  // namespace ferry
