// Tests the readability of printed source: the text of small kernels, kept in tests/golden/source.
// FERRY_UPDATE_GOLDEN=1 rewrites it.
#include <doctest/doctest.h>

#include "crosscompile/codegen/source/kernel.h"
#include "crosscompile/codegen/source/source.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "host/lower/constant_stages.h"
#include "host/lower/lower.h"
#include "tests/paths.h"
#include "tests/unit/crosscompile/codegen/source/gpu_programs.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

using namespace ferry;

namespace {

using codegen::source::Language;

// Appends the functions of a program for the target.
void lower_into(std::vector<ir::Function>& functions, const lang::Program& program, const std::string& directives,
                const Target& target) {
  const schedule::Schedule schedule = schedule::Schedule::replay(program, directives);
  for (ir::Function& function : lower::split_constants(lower::lower(program, schedule)))
    functions.push_back(passes::run_pipeline(std::move(function), target));
}

std::string printed(const std::string& kernel, const std::string& directives) {
  const Target target = resolve_target("c");
  std::vector<ir::Function> functions;
  lower_into(functions, lang::parse(kernel, "golden.tc").at(0), directives, target);
  return codegen::emit_source(functions, target, Language::c);
}

// Removes the includes and the runtime's interface, which are always the same.
std::string below_the_interface(const std::string& text) {
  const std::string end = "#endif\n\n";
  return text.substr(text.find(end) + end.size());
}

void check_file(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(FERRY_SOURCE_DIR) / "tests/golden/source" / name;
  if (std::getenv("FERRY_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::ostringstream expected;
  expected << std::ifstream(path).rdbuf();
  CHECK_MESSAGE(expected.str() == text, "expected ", path.string(), " (FERRY_UPDATE_GOLDEN=1 rewrites it), got\n",
                text);
}

void check_golden(const std::string& name, const std::string& kernel, const std::string& directives = "") {
  check_file(name + ".c", below_the_interface(printed(kernel, directives)));
}

}  // namespace

TEST_CASE("kernels for GPUs read the same in both languages but for their words") {
  for (const char* name : {"matmul_tiled", "vector_copies"}) {
    const auto& programs = codegen_test::gpu_programs();
    const auto program =
        std::find_if(programs.begin(), programs.end(), [&](const auto& one) { return one.name == name; });
    REQUIRE(program != programs.end());
    for (const auto& [target, ending, language] :
         {std::tuple("opencl", ".cl", Language::opencl), {"cuda", ".cu", Language::cuda}}) {
      const Target gpu = resolve_target(target);
      const ir::Function function = codegen_test::compiled_for(*program, gpu);
      check_file(name + std::string(ending), codegen::emit_source(std::span(&function, 1), gpu, language));
    }
  }
}

TEST_CASE("loops, accumulators and vectors read as C") {
  check_golden("matmul", "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
               "cache_write local -> sums\nC: tile m n 4 8 -> mo no mi ni\nparallel mo\nvectorize ni\n"
               "sums: compute_at C no\nreorder k m n\nunroll m\nvectorize n");
}

TEST_CASE("narrow floats and math call functions of their names") {
  check_golden("narrow_floats",
               "def f(float16(N) A, bfloat16(N) B) -> (C, D) {\n"
               "  C(i) = exp(A(i)) + float16(sigmoid(float(B(i))))\n"
               "  D(i) = double(tanh(B(i)))\n"
               "}");
}

TEST_CASE("integers that may overflow go through unsigned ones, indices do not") {
  check_golden("integers",
               "def f(int32(N) A, int8(N) B, uint16(N) U) -> (C, D, E) {\n"
               "  C(i) = A(i) * A(i) + int32(B(i)) / 3\n"
               "  D(i) = U(i) * U(i) - U(i)\n"
               "  E(i) = B(i) * B(i) + int8(A(i) >> 5)\n"
               "}");
}

TEST_CASE("factors keep their parentheses where one of them is a quotient") {
  const std::string text =
      printed("def f(float(N) A) -> (C) { C(i) +=! A(i) * float(r - s) where i in 0:N, r in 0:N+1, s in 0:N }",
              "split s 2\nfuse s.outer s.inner\nfuse r s.outer.s.inner.fused");
  CHECK_MESSAGE(text.find("< (N + 1) * ((N + 1) / 2 * 2);") != std::string::npos, text);
}

TEST_CASE("a choice guards what it reads") {
  check_golden("guards",
               "def pad(float(N,M) A) -> (B) {\n"
               "  B(i,j) = i >= 1 && i <= N && j >= 1 && j <= M ? A(i - 1, j - 1) : 0 where i in 0:N+2, j in 0:M+2\n"
               "}",
               "split j 8\nvectorize j.inner");
}

TEST_CASE("stages live in the workspace, and what constants alone decide is in the init plan") {
  check_golden("init_plan",
               "def mm(float(M,K) A, const float(K,N) B) -> (C) {\n"
               "  T(m,k) = A(m,k) * 2\n"
               "  C(m,n) +=! T(m,k) * B(k,n)\n"
               "}",
               "B: cache_read global -> packed\npacked: transform_layout (k, n) -> (n / 16, k, n % 16)");
}

TEST_CASE("a function may be called like the init plan of another") {
  const std::string packed = "B: cache_read global -> packed\npacked: transform_layout (k, n) -> (n / 16, k, n % 16)";
  for (const char* name : {"mm_init_plan", "mm.init_plan", "init_mm"}) {
    const Target target = resolve_target("c");
    std::vector<ir::Function> functions;
    lang::Program mm =
        lang::parse("def mm(float(M,K) A, const float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", "golden.tc")
            .at(0);
    lower_into(functions, mm, packed, target);
    mm.name = name;
    lower_into(functions, mm, packed, target);
    REQUIRE(functions.size() == 4);
    const std::string text = codegen::emit_source(functions, target, Language::c);
    for (const ir::Function& function : functions) {
      const std::string head = "int32_t " + codegen::source::symbol_of(function) + "(";
      CHECK_MESSAGE(text.find(head) != std::string::npos, text);
      CHECK_MESSAGE(text.find(head) == text.rfind(head), text);
    }
  }
}

TEST_CASE("functions whose names are the same identifier are refused") {
  const auto refusal = [](const std::string& first, const std::string& second, const char* target_text, Language to) {
    const Target target = resolve_target(target_text);
    std::vector<ir::Function> functions;
    lang::Program program =
        lang::parse("def f(float(N) A) -> (B) { T(i) = A(i) + 1  B(i) = T(i) * 2 }", "golden.tc").at(0);
    const bool is_gpu = to != Language::c;
    const std::string bound = "split i 64 -> b t\nbind b blockIdx.x\nbind t threadIdx.x\n";
    const std::string on_gpu = "T: " + bound + "B: " + bound;
    for (const std::string& name : {first, second}) {
      program.name = name;
      lower_into(functions, program, is_gpu ? on_gpu : "", target);
    }
    try {
      codegen::emit_source(functions, target, to);
    } catch (const CompileError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(refusal("a.b", "a_c", "c", Language::c) == "none");
  CHECK(refusal("a.b", "a_b", "c", Language::c) == "two functions are called 'ferry_fn_a_b'");
  CHECK(refusal("a", "a_2", "cuda", Language::cuda) == "none");
  // The second kernel of a is numbered.
  CHECK(refusal("a", "a_1", "cuda", Language::cuda) == "two functions are called 'ferry_fn_a_1'");
  CHECK(refusal("a", "a_1", "opencl", Language::opencl) == "two functions are called 'ferry_fn_a_1'");
}
