// Runs a small part of the fuzzer with fixed seeds; scripts/fuzz.sh runs it for any length of time.
#include <doctest/doctest.h>

#include "tests/fuzz/cases/run_case.h"
#include "tests/fuzz/cases/shrink.h"

using namespace ferry::fuzz;

namespace {

constexpr std::uint64_t kCases = 300;
constexpr int kShrinkTries = 60;
constexpr int kEnoughFailures = 3;

}  // namespace

TEST_CASE("random programs under random schedules compute what the reference evaluator says") {
  std::uint64_t directives = 0, refusals = 0;
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    const auto [fuzz_case, outcome] = run_seed(seed);
    directives += outcome.directives.size();
    refusals += outcome.refusals.size();
    if (!outcome.is_failure()) continue;
    const Shrunk shrunk = shrink(fuzz_case, outcome, kShrinkTries);
    FAIL_CHECK(shrunk.outcome.kind << " in " << shrunk.outcome.step << ": " << shrunk.outcome.message << "\n"
                                   << as_test(shrunk.fuzz_case));
    // A single defect breaks many cases.
    if (++failures == kEnoughFailures) return;
  }
  // Most cases have a schedule, and illegal directives are tried as well.
  CHECK(directives > 2 * kCases);
  CHECK(refusals > kCases);
}
