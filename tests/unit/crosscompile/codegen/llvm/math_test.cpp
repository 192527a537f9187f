// Tests math functions against the interpreter, which computes in double.
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

// Returns whether the function is exactly specified and therefore equal on all targets.
bool is_exact(std::string_view name) {
  for (const char* exact : {"abs", "sqrt", "floor", "ceil", "round", "round_even", "trunc", "fma", "fmod"}) {
    if (name == exact) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("math functions of floats are within a few units of the interpreter's") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : {1u, 4u}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const MathSignature& function : math_functions()) {
        if (function.kind == MathKind::integer) continue;
        const MathFunction called = *find_math(function.name);
        const std::vector<DType> types(function.arguments, dtype);
        std::vector<Bytes> data;
        for (std::size_t i = 0; i < function.arguments; ++i) {
          // The arguments must not all have the same values.
          Bytes bytes = edge_bytes(dtype, 64 + i * 8);
          data.emplace_back(bytes.end() - static_cast<std::ptrdiff_t>(64 * dtype_bytes(dtype)), bytes.end());
        }
        cases.push_back(elementwise(std::string(function.name) + "_" + dtype_name(dtype), types, dtype, data, 64, lanes,
                                    [&](const std::vector<Expr>& in) { return Call::make(in[0].type(), called, in); }));
        cases.back().ulps = is_exact(function.name) ? 0 : 4;
        cases.back().any_zero = true;
      }
    }
  }
  check_everywhere(cases);
}

TEST_CASE("math functions of integers are exact") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : {1u, 8u, 3u}) {
    for (const DType dtype :
         {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64}) {
      for (const char* name : {"abs", "popcount", "clz"}) {
        cases.push_back(
            elementwise(name, {dtype}, dtype, {edge_bytes(dtype, 48)}, 48, lanes,
                        [&](const std::vector<Expr>& in) { return Call::make(in[0].type(), *find_math(name), in); }));
      }
    }
  }
  check_everywhere(cases);
}

TEST_CASE("a C function of the runtime's list can be called by its own name") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : {1u, 4u}) {
    cases.push_back(elementwise(
        "external", {DType::f32}, DType::f32, {edge_bytes(DType::f32, 64)}, 64, lanes,
        [](const std::vector<Expr>& in) { return Call::make(in[0].type(), Callee::external("tanhf"), in); }));
    cases.back().ulps = 4;
    cases.back().any_zero = true;
  }
  check_everywhere(cases);
}

TEST_CASE("bitcast keeps the bits") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : {1u, 4u, 3u}) {
    for (const auto& [from, to] : {std::pair{DType::f32, DType::u32},
                                   {DType::i32, DType::f32},
                                   {DType::f64, DType::i64},
                                   {DType::i16, DType::u16}}) {
      cases.push_back(
          elementwise("bits", {from}, to, {edge_bytes(from, 48)}, 48, lanes, [to = to](const std::vector<Expr>& in) {
            return Call::make(Type(to, in[0].type().lanes), CallOp::bitcast, in);
          }));
    }
  }
  check_everywhere(cases);
}
