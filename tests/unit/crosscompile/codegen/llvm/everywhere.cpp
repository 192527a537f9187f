#include "tests/unit/crosscompile/codegen/llvm/everywhere.h"

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/link/link.h"
#include "crosscompile/link/temporary_folder.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "tests/support/sample.h"
#include "tests/unit/crosscompile/codegen/llvm/outcome.h"
#include "tests/unit/crosscompile/codegen/llvm/printed_c.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace ferry::codegen_test {
namespace {

// A list of more cases has each operation for many types and numbers of lanes. Each variant runs a drawn part of it.
constexpr std::size_t kMany = 40;
// Each variant runs one part of a long list. There are more variants than parts.
constexpr std::size_t kParts = 8;

std::vector<Outcome> run_compiled(const Variant& variant, const Target& target, const std::vector<Case>& cases,
                                  std::vector<ir::Function> functions, bool run_passes) {
  std::vector<runner::Call> calls;
  std::vector<std::string> exports;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (run_passes) functions[i] = passes::run_pipeline(functions[i], target);
    functions[i].name += "_" + std::to_string(i);
    calls.push_back(call_of(functions[i], cases[i]));
    exports.push_back(calls.back().symbol);
  }
  const link::TemporaryFolder folder;
  link::write_file(folder.file("image"), link::link_shared(codegen::emit_object(functions, target), target, exports));
  link::write_file(folder.file("cases"), runner::write_calls(calls));
  std::vector<std::string> command = variant.emulator;
  command.insert(command.end(), {FERRY_RUNNERS + target.arch_name, folder.file("image"), folder.file("cases"),
                                 folder.file("results")});
  REQUIRE_MESSAGE(test::run_program(command) == 0, variant.target);
  return split_results(link::read_file(folder.file("results")), cases);
}

void check_variant(const Variant& variant, const std::vector<Case>& all_cases, const std::vector<Outcome>& all_expected,
                   bool run_passes) {
  std::vector<Case> cases;
  std::vector<Outcome> expected;
  for (std::size_t i = 0; i < all_cases.size(); ++i) {
    if (all_cases[i].vector_float_to_int && !variant.vector_float_to_int) continue;
    cases.push_back(all_cases[i]);
    expected.push_back(all_expected[i]);
  }
  if (cases.size() < all_cases.size()) {
    MESSAGE(variant.target, ": ", all_cases.size() - cases.size(),
            " cases are left out, which this emulator cannot run");
  }
  std::vector<ir::Function> functions;
  for (const Case& one : cases) {
    functions.push_back(one.function);
    if (!run_passes) functions.back().flat = true;
  }
  const Target target = resolve_target(variant.target);
  const std::vector<Outcome> got = run_compiled(variant, target, cases, std::move(functions), run_passes);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string difference = difference_of(cases[i], expected[i], got[i], target.arch_name);
    // A defect usually affects many cases; the first few suffice.
    if (difference.empty() || ++wrong > 3) continue;
    FAIL_CHECK(variant.target, ": ", difference, "\n", ir::to_text(cases[i].function));
  }
  CHECK_MESSAGE(wrong == 0, variant.target, ": ", wrong, " of ", cases.size(), " cases are wrong");
}

}  // namespace

std::vector<Variant> all_variants() {
  std::vector<Variant> variants{
      {"x86-64", {}},
      {"armv7", {"qemu-arm", "-cpu", "cortex-a7"}},
      {"raspberry-pi-4-32bit", {"qemu-arm", "-cpu", "max"}},
      {"raspberry-pi-4", {"qemu-aarch64", "-cpu", "cortex-a72"}},
      {"llvm -mtriple=aarch64-linux-gnu -mattr=+fullfp16,+bf16", {"qemu-aarch64", "-cpu", "max"}},
      {"riscv64", {"qemu-riscv64", "-cpu", "rv64,v=false"}},
      {"riscv64-v", {"qemu-riscv64", "-cpu", "rv64,v=true,vlen=128,vext_spec=v1.0"}, false},
  };
  const Target host = resolve_target("host");
  for (const char* name : {"x86-64-v3", "x86-64-v4"}) {
    const Target target = resolve_target(name);
    const bool runs_here = target.arch == host.arch && (target.has("avx512f") ? host.has("avx512f") : host.has("avx2"));
    if (runs_here) {
      variants.push_back({name, {}});
    } else {
      MESSAGE("not run: this machine is no ", name);
    }
  }
  return variants;
}

void check_on(const Variant& variant, const std::vector<Case>& cases, bool run_passes) {
  check_on_all({variant}, cases, run_passes);
}

void check_on_all(const std::vector<Variant>& variants, const std::vector<Case>& cases, bool run_passes) {
  const std::vector<Outcome> expected = interpret_cases(cases);
  for (const Variant& variant : variants) check_variant(variant, cases, expected, run_passes);
}

void check_everywhere(const std::vector<Case>& cases, bool run_passes) {
  const std::vector<Outcome> expected = interpret_cases(cases);
  const bool is_sampled = cases.size() > kMany && std::getenv("FERRY_CODEGEN_ALL") == nullptr;
  const std::uint64_t seed = test::sample_seed("FERRY_CODEGEN_SEED");
  std::size_t part = 0;
  for (const Variant& variant : all_variants()) {
    part = (part + 1) % kParts;
    if (!is_sampled) {
      check_variant(variant, cases, expected, run_passes);
      continue;
    }
    std::vector<Case> drawn;
    std::vector<Outcome> drawn_expected;
    std::map<std::string, int> seen;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      // Cases may have the same name; they are numbered.
      const std::string& function = cases[i].function.name;
      const std::string name = function + " " + std::to_string(seen[function]++);
      if (test::part_of(name, kParts, seed) != part) continue;
      drawn.push_back(cases[i]);
      drawn_expected.push_back(expected[i]);
    }
    check_variant(variant, drawn, drawn_expected, run_passes);
  }
  check_c(test::sanitizing_gcc(), cases, expected, run_passes);
}

}  // namespace ferry::codegen_test
