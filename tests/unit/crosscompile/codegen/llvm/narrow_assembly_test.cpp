// Tests that vectors of narrow floats stay vectors on every architecture.
#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

#include <regex>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

std::string addition(DType dtype, const char* target) {
  const Bytes data = edge_bytes(dtype, 256);
  const Case one = elementwise("add", {dtype, dtype}, dtype, {data, data}, 256, 16,
                               [](const std::vector<Expr>& in) { return in[0] + in[1]; });
  const Target resolved = resolve_target(target);
  return codegen::emit_assembly(std::vector<Function>{passes::run_pipeline(one.function, resolved)}, resolved);
}

}  // namespace

TEST_CASE("float16 additions use the target's conversions, or its additions where it has them") {
  const struct {
    const char* target;
    const char* instruction;
  } expected[] = {
      {"x86-64-v3", R"(\tvcvtph2ps\t.*ymm)"},
      {"x86-64-v4", R"(\tvcvtph2ps\t.*zmm)"},
      {"llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids", R"(\tvaddph\t)"},
      {"raspberry-pi-4", R"(\tfcvtl2?\t)"},
      {"llvm -mtriple=aarch64-linux-gnu -mattr=+fullfp16", R"(\tfadd\tv\d+\.8h)"},
      {"raspberry-pi-2", R"(\tvcvt\.f32\.f16\tq)"},
      {"llvm -mtriple=riscv64-linux-gnu -mattr=+v,+zfh,+zvfh", R"(\tvfadd\.vv)"},
  };
  for (const auto& e : expected) {
    CAPTURE(std::string(e.target));
    const std::string text = addition(DType::f16, e.target);
    CAPTURE(text);
    CHECK(std::regex_search(text, std::regex(e.instruction)));
  }
}

TEST_CASE("additions of narrow floats take no lane apart on any architecture with vectors") {
  const std::regex lane(R"(\t(v?pinsr[bwdq]|v?pextr[bwdq]|ldrs?h|strh|[su]mov|ins|lhu?|sh|callq?|blx?|jalr?)\t)");
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (const char* target :
         {"x86-64", "x86-64-v3", "x86-64-v4", "raspberry-pi-4", "raspberry-pi-2", "armv7", "riscv64-v"}) {
      CAPTURE(std::string(target));
      const std::string text = addition(dtype, target);
      CAPTURE(text);
      CHECK(!std::regex_search(text, lane));
    }
  }
}

TEST_CASE("limits of float16 numbers call no function of a C library") {
  const Bytes data = edge_bytes(DType::f16, 64);
  for (const std::uint32_t lanes : {1u, 3u, 16u}) {
    const Case one =
        elementwise("limits", {DType::f16}, DType::f16, {data}, lanes * 4, lanes, [](const std::vector<Expr>& in) {
          const auto number = [&](double value) { return constant(in[0].type(), value); };
          const Expr inside = min(max(in[0], number(0.5)), number(3));
          return min(inside, number(4)) / max(inside, number(4));
        });
    for (const char* target :
         {"x86-64", "x86-64-v3", "x86-64-v4", "raspberry-pi-4", "raspberry-pi-2", "armv7", "riscv64-v"}) {
      CAPTURE(std::string(target));
      const Target resolved = resolve_target(target);
      CHECK_NOTHROW(
          (void)codegen::emit_object(std::vector<Function>{passes::run_pipeline(one.function, resolved)}, resolved));
    }
  }
}
