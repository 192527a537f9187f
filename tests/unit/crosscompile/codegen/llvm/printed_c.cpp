#include "tests/unit/crosscompile/codegen/llvm/printed_c.h"

#include "crosscompile/codegen/source/source.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/passes/vector/scalarize.h"
#include "crosscompile/target/resolve.h"

#include <doctest/doctest.h>

namespace ferry::codegen_test {

void check_c(const test::CCompiler& compiler, const std::vector<Case>& all_cases,
             const std::vector<Outcome>& all_expected, bool run_passes) {
  // Long lists contain each operation for several numbers of lanes, which makes no difference in C, and gcc is slow
  // with sanitizers.
  constexpr std::size_t kMany = 40, kStep = 3;
  std::vector<Case> cases;
  std::vector<Outcome> expected;
  for (std::size_t i = 0; i<all_cases.size(); i += all_cases.size()> kMany ? kStep : 1) {
    cases.push_back(all_cases[i]);
    expected.push_back(all_expected[i]);
  }
  const Target target = resolve_target("c");
  std::vector<ir::Function> functions;
  std::vector<runner::Call> calls;
  std::vector<std::string> symbols;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    functions.push_back(run_passes ? passes::run_pipeline(cases[i].function, target)
                                   : passes::scalarize(cases[i].function));
    functions.back().flat = true;
    functions.back().name += "_" + std::to_string(i);
    calls.push_back(call_of(functions.back(), cases[i]));
    symbols.push_back(calls.back().symbol);
  }
  const test::PrintedProgram program(compiler, codegen::emit_source(functions, target, codegen::source::Language::c),
                                     symbols);
  const std::vector<Outcome> got = split_results(program.run(calls), cases);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string difference = difference_of(cases[i], expected[i], got[i], compiler.runner);
    // A defect usually affects many cases; the first few suffice.
    if (difference.empty() || ++wrong > 3) continue;
    FAIL_CHECK(compiler.command[0], ": ", difference, "\n", ir::to_text(cases[i].function), "\n",
               codegen::emit_source(std::span(&functions[i], 1), target, codegen::source::Language::c));
  }
  CHECK_MESSAGE(wrong == 0, compiler.command[0], ": ", wrong, " of ", cases.size(), " cases are wrong");
}

}  // namespace ferry::codegen_test
