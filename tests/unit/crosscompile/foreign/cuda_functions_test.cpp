#include "crosscompile/foreign/cuda_functions.h"

#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"

namespace ferry::foreign {
namespace {

TEST_CASE("kernels are found in PTX by the names that CUDA C has for them") {
  const std::vector<CudaFunction> all = kernels_in_ptx(
      "\t// .globl\tvadd\n.visible .entry vadd(\n\t.param .u64 vadd_param_0\n)\n{\n}\n"
      ".visible .entry _ZN7filters4blurEPKfPfx(\n.weak .entry _Z5scaleIiEvPT_(\n// .entry nothing(\n");
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "vadd");
  CHECK(all[1].name == "filters::blur");
  CHECK(all[2].name == "scale<int>");
  ForeignKernel kernel{"k.cu", {parse_signature("blur()"), parse_signature("vadd()")}, {}, ""};
  CHECK(find_kernel(all, kernel, kernel.signatures[0]).symbol == "_ZN7filters4blurEPKfPfx");
  CHECK(find_kernel(all, kernel, kernel.signatures[1]).symbol == "vadd");
  CHECK_THROWS_WITH_AS(find_kernel(all, kernel, parse_signature("vad()")),
                       doctest::Contains("k.cu: expected a kernel 'vad', got vadd"), CompileError);
  CHECK_THROWS_WITH_AS(find_kernel({}, kernel, parse_signature("vad()")), doctest::Contains("write __global__"),
                       CompileError);
  kernel.signatures.pop_back();
  CHECK(find_kernel({{"only", "only"}}, kernel, kernel.signatures[0]).symbol == "only");
}

TEST_CASE("how a kernel is declared is read from a symbol that contains its type") {
  const CudaFunction vadd{"vadd", "vadd"};
  CHECK(declaring_expression(vadd) == "ferry_declared<decltype(&vadd)>");
  const link::DeclaredFunction declared =
      declaration_in("_Z14ferry_declaredIPFvPKfS1_PfxbEEvv", vadd,
                     "// vadd(x)\ntemplate <class T>\n__global__ void\nvadd(const float* a)", "k.cu");
  CHECK(declared.line == 4);
  REQUIRE(declared.parameters.size() == 5);
  CHECK(declared.parameters[0].type.is_pointer);
  CHECK(declared.parameters[0].type.is_constant);
  CHECK(declared.parameters[0].type.bits == 32);
  CHECK(declared.parameters[0].type.kind == link::DeclaredType::Kind::real);
  CHECK_FALSE(declared.parameters[2].type.is_constant);
  CHECK(declared.parameters[3].type.bits == 64);
  CHECK(declared.parameters[4].type.bits == 8);
  CHECK(declaration_in("_Z14ferry_declaredIPFvvEEvv", vadd, "", "k.cu").parameters.empty());
  const auto one = [&](const char* symbol) { return declaration_in(symbol, vadd, "", "k.cu").parameters.at(0).type; };
  CHECK(one("_Z14ferry_declaredIPFvPK6float4EEvv").kind == link::DeclaredType::Kind::structure);
  CHECK(one("_Z14ferry_declaredIPFvPPfEEvv").kind == link::DeclaredType::Kind::other);
  CHECK(one("_Z14ferry_declaredIPFvP6__halfEEvv").bits == 16);
  CHECK(one("_Z14ferry_declaredIPFvPFvvEEEvv").kind == link::DeclaredType::Kind::other);
  CHECK_THROWS_WITH_AS(declaration_in("hostile", vadd, "", "k.cu"), doctest::Contains("cannot be read"), CompileError);
}

}  // namespace
}  // namespace ferry::foreign
