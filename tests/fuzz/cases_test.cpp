// Tests of what the fuzzer itself relies on: it detects code that no processor can run, slow work is not a failure, and
// every seed gives another case.
#include <doctest/doctest.h>

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "host/lower/lower.h"
#include "tests/fuzz/cases/gathers.h"
#include "tests/fuzz/cases/generate_program.h"
#include "tests/fuzz/cases/limited.h"
#include "tests/fuzz/cases/random.h"

#include <atomic>
#include <csignal>
#include <set>
#include <string>

using namespace ferry;
using namespace ferry::fuzz;

namespace {

std::string failure_of(const std::function<void()>& work) {
  try {
    return within_limit(10, work, [] {}) ? "none" : "slow";
  } catch (const Failure& failure) {
    return failure.kind() + ": " + failure.what();
  }
}

// Reads the elements of a table in a scattered order, in vectors of this width.
ir::Function scattered(int lanes, const Target& target) {
  const char* const source = "def f(int(A,B) Z) -> (U) { U(a,b) = Z((a*3+b)%A,(b*7+a)%B) where a in 0:A, b in 0:B }";
  const lang::Program program = lang::parse(source, "case.tc").at(0);
  const auto schedule =
      schedule::Schedule::replay(program, "U: split b " + std::to_string(lanes) + "\nU: vectorize b.inner\n");
  return passes::run_pipeline(lower::lower(program, schedule), target);
}

}  // namespace

TEST_CASE("a gather with two registers that are the same is found, others are not") {
  CHECK(impossible_gather("\tvpgatherqd\t(%r15,%zmm0,4), %ymm0 {%k1}\n") == "vpgatherqd\t(%r15,%zmm0,4), %ymm0 {%k1}");
  CHECK(impossible_gather("\tmovq\t%rax, %rbx\n\tvgatherdps\t%xmm2, (%rax,%xmm2,4), %xmm1\n") ==
        "vgatherdps\t%xmm2, (%rax,%xmm2,4), %xmm1");
  CHECK(impossible_gather("\tvpgatherdd\t(%rax,%zmm10,4), %zmm1 {%k1}\n\tvpaddd\t%zmm0, %zmm0, %zmm0\n").empty());
  CHECK(impossible_gather("\tvpgatherqq\t%ymm3, (%rax,%ymm1,8), %ymm2\n").empty());
}

TEST_CASE("gathers of every width keep their registers apart") {
  for (const char* name : {"x86-64-v4", "llvm -mtriple=x86_64-linux-gnu -mcpu=skylake"}) {
    const Target target = resolve_target(name);
    int gathers = 0;
    for (const int lanes : {2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 15, 16, 17, 18, 24, 31, 33, 40, 63, 65, 72, 80}) {
      const ir::Function function = scattered(lanes, target);
      REQUIRE(may_gather(function, target));
      const std::string assembly = codegen::emit_assembly(std::span(&function, 1), target);
      CHECK_MESSAGE(impossible_gather(assembly).empty(), lanes << " lanes for " << name);
      gathers += assembly.find("gather") != std::string::npos ? 1 : 0;
    }
    // Make sure that there are gathers to check; vectors of few lanes are loaded lane by lane.
    CHECK(gathers >= 18);
  }
}

TEST_CASE("no two of many consecutive seeds give the same case") {
  constexpr std::uint64_t kSeeds = 500;
  std::set<std::string> cases;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Random random(seed);
    const std::string source = source_of(generate_program(random));
    cases.insert(source + std::to_string(random.bits()));
  }
  CHECK(cases.size() == kSeeds);
}

TEST_CASE("work beyond its limit is slow, and what else goes wrong in it comes back") {
  CHECK(failure_of([] {}) == "none");
  CHECK(failure_of([] { throw Failure("mismatch", "two\nlines"); }) == "mismatch: two\nlines");
  CHECK(failure_of([] { throw std::runtime_error("broken"); }) == "error: broken");
  CHECK(failure_of([] { std::raise(SIGILL); }).starts_with("crash: "));
  const auto endless = [] {
    for (std::uint64_t i = 0;; ++i) std::atomic_ref(i).store(i);
  };
  CHECK(!within_limit(1, endless, [] {}));
  const auto huge = [] { throw ferry::ir::InterpreterLimit("a workspace is too large to interpret"); };
  CHECK(!within_limit(10, huge, [] {}));
}
