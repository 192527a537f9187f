// Tests that everything compiles for every target that `ferry targets` lists, and for the features that change how.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "crosscompile/ir/callee.h"
#include "crosscompile/target/resolve.h"
#include "ferry/compile.h"
#include "tests/support/sample.h"

using namespace ferry;

namespace {

std::vector<std::string> targets() {
  std::vector<std::string> all;
  for (const NamedTarget& named : named_targets()) all.push_back(named.name);
  for (const char* more : {"armv7 -mattr=+fp-armv8", "armv7 -mattr=+fp-armv8,+fullfp16,+dotprod",
                           "llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a76", "raspberry-pi-5 -mattr=+bf16,+i8mm",
                           "riscv64-v -mattr=+zfh,+zvfh", "x86-64-v4 -mattr=+avx512vnni,+avx512bf16,+avx512fp16"})
    all.emplace_back(more);
  return all;
}

// Returns a drawn quarter of them for a type; all with FERRY_PRESETS_ALL. FERRY_PRESETS_SEED draws others.
std::vector<std::string> drawn_targets(const std::string& type) {
  std::vector<std::string> drawn = targets();
  if (std::getenv("FERRY_PRESETS_ALL") != nullptr) return drawn;
  const std::uint64_t seed = test::sample_seed("FERRY_PRESETS_SEED");
  std::erase_if(drawn, [&](const std::string& name) { return test::part_of(name + " " + type, 4, seed) != 0; });
  return drawn;
}

// Returns a definition with each of these expressions of a(i), b(i) and c(i) as an output.
std::string definition(const std::string& type, const std::vector<std::string>& expressions) {
  std::string outputs, statements;
  for (std::size_t e = 0; e < expressions.size(); ++e) {
    const std::string name = "y" + std::to_string(e);
    outputs += (e == 0 ? "" : ", ") + name;
    statements += "  " + name + "(i) = " + expressions[e] + "\n";
  }
  return "def all(" + type + "(N) a, " + type + "(N) b, " + type + "(N) c) -> (" + outputs + ") {\n" + statements +
         "}\n";
}

std::vector<std::string> math_of(bool is_float) {
  static const char* const kArguments[] = {"", "a(i)", "a(i), b(i)", "a(i), b(i), c(i)"};
  std::vector<std::string> calls;
  for (const ir::MathSignature& function : ir::math_functions()) {
    const bool fits = is_float ? function.kind != ir::MathKind::integer : function.kind != ir::MathKind::float_only;
    if (fits) calls.push_back(std::string(function.name) + "(" + kArguments[function.arguments] + ")");
  }
  return calls;
}

void check_compiles(const std::string& text, const std::string& name) {
  CAPTURE(name);
  CHECK_NOTHROW((void)compile(text, target(name)));
}

}  // namespace

TEST_CASE("each function of the language compiles for each preset, for all floats") {
  for (const char* type : {"float16", "bfloat16", "float", "double"}) {
    std::vector<std::string> expressions = math_of(true);
    for (const char* more :
         {"min(a(i), b(i))", "max(a(i), b(i))", "clamp(a(i), b(i), c(i))", "a(i) / b(i)", "a(i) < b(i) ? b(i) : c(i)",
          "int8(a(i))", "uint8(round_even(a(i)))", "int32(a(i))", "int64(a(i))", "uint64(a(i))", "float16(a(i))",
          "bfloat16(a(i))", "float(a(i))", "double(a(i))", "bool(a(i))"})
      expressions.emplace_back(more);
    for (const std::string& name : drawn_targets(type)) check_compiles(definition(type, expressions), name);
  }
}

TEST_CASE("each function of the language compiles for each preset, for all integers") {
  for (const char* type : {"int8", "uint16", "int32", "uint64"}) {
    std::vector<std::string> expressions = math_of(false);
    for (const char* more :
         {"min(a(i), b(i))", "max(a(i), b(i))", "a(i) / b(i)", "a(i) % b(i)", "a(i) << (b(i) % 4)",
          "a(i) >> (b(i) % 4)", "float(a(i))", "double(a(i))", "float16(a(i))", "a(i) * b(i) + c(i)"})
      expressions.emplace_back(more);
    for (const std::string& name : drawn_targets(type)) check_compiles(definition(type, expressions), name);
  }
}
