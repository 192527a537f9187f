// Tests that sums whose terms are 0 outside of a part of their range run over that part alone.
#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/loops/trim_reductions.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/schedule.h"
#include "host/lower/lower.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;
using namespace ferry::test;

namespace {

// The head of the loop over k, as lowered with this schedule and trimmed.
std::string loop_over_k(const std::string& source, const std::string& schedule = "") {
  const lang::Program program = lang::parse(source, "test.tc").at(0);
  const ir::Function lowered = lower::lower(program, schedule::Schedule::replay(program, schedule));
  const std::string text = ir::to_text(passes::trim_reductions(passes::simplify(lowered)));
  const std::size_t begin = text.find("for (k");
  REQUIRE_MESSAGE(begin != std::string::npos, text);
  return text.substr(begin, text.find(" {", begin) - begin);
}

const std::string kWhole = "for (k = 0; k < N; ++k)";
const std::string kLanes = "Y: split i 16 -> io ii\nY: reorder io k ii\nY: vectorize ii\n";

}  // namespace

TEST_CASE("the loop of a guarded sum runs where the guard of any lane may hold") {
  CHECK(loop_over_k("def f(float(N) X) -> (Y) { Y(i) +=! (k >= i && k < i+3 ? X(k) : 0) where i in 0:N, k in 0:N }",
                    kLanes)
            .find("io * 16") != std::string::npos);
  CHECK(loop_over_k("def f(float(N,N) A) -> (Y) { Y(i) +=! (k <= i ? A(i,k) : 0) }", kLanes) != kWhole);
  CHECK(loop_over_k("def f(int(N,N) A) -> (Y) { Y(i) +=! (i > k ? 0 : A(i,k)) }", kLanes) != kWhole);
}

TEST_CASE("a sum that may do something everywhere is not trimmed") {
  for (const std::string source : {
           // Adding 0 to -0 gives 0.
           "def f(float(N,N) A, float(N) Y) -> (Y) { Y(i) += (k <= i ? A(i,k) : 0) }",
           // An infinity times 0 is no number.
           "def f(float(N,N) A) -> (Y) { Y(i) +=! (k <= i ? A(i,k) : 0) * A(k,i) }",
           "def f(float(N,N) A) -> (Y) { Y(i) +=! (k <= i || k >= 7 ? A(i,k) : 0) }",
           "def f(float(N,N) A, int(N) B) -> (Y) { Y(i) +=! (B(k) <= i ? A(i,k) : 0) }",
           "def f(float(N,N) A) -> (Y) { Y(i) +=! (k <= i ? A(i,k) : 1) }",
           "def f(float(N,N) A) -> (Y) { Y(i) max=! (k <= i ? A(i,k) : 0) }",
           "def f(float(N,N) A) -> (Y) { Y(i) +=! (k * 6364136223846793005 <= i ? A(i,k) : 0) }",
       })
    CHECK_MESSAGE(loop_over_k(source, kLanes) == kWhole, source);
  CHECK(loop_over_k("def f(float(N,9) A) -> (Y) { Y(i) +=! (k <= i ? A(i,k) : 0) }", kLanes) ==
        "for (k = 0; k < 9; ++k)");
}

TEST_CASE("a guarded sum that no schedule tiles runs where its guard holds") {
  for (const std::string source : {
           "def f(float(N,N) A) -> (Y) { Y(i) +=! (k <= i ? A(i,k) : 0) }",
           "def f(float(N,N) A) -> (Y) { Y(i) +=! (k <= i && A(i,k) > 1 ? A(i,k) : 0) }",
           "def f(float(N,N) A) -> (Y) { Y(i,j) +=! (k >= i-1 ? (k <= i+1 ? A(k,j) : 0) : 0) where i in 0:N }",
           "def f(float(N,N) A) -> (Y) { Y(i) +=! (k + l <= i && l > 2 ? A(k,l) : 0) where i in 0:N }",
           "def f(float(N,N) A) -> (Y) { Y(i) +=! (k <= i && l >= i ? A(k,l) : 0) where i in 0:N }",
           "def f(float16(N,N) A) -> (Y) { Y(i) +=! (i > k ? 0 : A(i,k)) }",
           "def f(int(N,N) A) -> (Y) { Y(i) +=! (k == i ? A(i,k) : 0) }",
           "def f(int(N,N) A) -> (Y) { Y(i) +=! (k != i + 1 ? 0 : A(i,k)) }",
       })
    CHECK_MESSAGE(loop_over_k(source) != kWhole, source);
  CHECK(
      loop_over_k("def f(float(N) X) -> (Y) { Y(i) +=! (k >= i-1 && k <= i+1 ? X(k) : 0) where i in 0:N, k in 0:N }") ==
      "for (k = max(0, i - 1); k < min(N, i + 2); ++k)");
}

TEST_CASE("a sum without a guard that bounds its index runs over all of it under any schedule") {
  for (const std::string source : {
           "def f(float(N,N) A) -> (Y) { Y(i) +=! (k <= i || k >= 7 ? A(i,k) : 0) }",
           "def f(float(N,N) A, int(N) B) -> (Y) { Y(i) +=! (B(k) <= i ? A(i,k) : 0) }",
           "def f(float(N,N) A) -> (Y) { Y(i) +=! (k <= i ? A(i,k) : 1) }",
           "def f(float(N,N) A) -> (Y) { Y(i) +=! (k * 6364136223846793005 <= i ? A(i,k) : 0) }",
           "def f(int(N,N) A) -> (Y) { Y(i) +=! (k % 5 == i ? A(i,k) : 0) }",
       })
    CHECK_MESSAGE(loop_over_k(source) == kWhole, source);
}

TEST_CASE("the guard of a split's tail is left to partition_loops") {
  const std::string source = "def f(float(N,N) A) -> (Y) { Y(i) +=! A(i,k) }";
  CHECK(loop_over_k(source, "Y: split k 128 -> ko ki").find("ko < (N + 127) / 128;") != std::string::npos);
  const std::string inner = "Y: split k 128 -> k0 k1";
  const lang::Program program = lang::parse(source, "test.tc").at(0);
  const ir::Function lowered = passes::simplify(lower::lower(program, schedule::Schedule::replay(program, inner)));
  CHECK(ir::to_text(passes::trim_reductions(lowered)) == ir::to_text(lowered));
}

TEST_CASE("trimmed sums are those of the whole range") {
  const char* const sums[] = {
      "def f(int(N) X) -> (Y) { Y(i) +=! (k >= i-1 && k <= i+1 ? X(k) : 0) where i in 0:N, k in 0:N }",
      "def f(int(N,N) A) -> (Y) { Y(i) +=! (2*k >= i && 3*k <= i+20 ? A(i,k) : 0) }",
      "def f(int(N,N) A) -> (Y) { Y(i) +=! (k > i ? 0 : k == 3 ? 0 : A(i,k)) }",
      "def f(uint8(N,N) A) -> (Y) { Y(i) +=! (i - k < 2 && k - i < 2 ? A(i,k) : 0) }",
      "def f(int(N,N) A, int q) -> (Y) { Y(i) +=! (k >= q && k < i + q ? A(i,k) : 0) }",
      "def f(int(N,N) A) -> (Y) { Y(i) +=! (k / 3 == i / 2 ? A(i,k) : 0) }",
      "def f(int(N,N) A) -> (Y) { Y(i) +=! (k != i + 1 ? 0 : A(i,k)) }",
      "def f(int(N,N) A) -> (Y) { Y(i) +=! (k + l == i && l > 2 ? A(k,l) : 0) where i in 0:N }",
      "def f(int(N,N) A) -> (Y) { Y(i) +=! (k * 1000000000000000000 <= i * 3000000000000000000 ? A(i,k) : 0) }",
  };
  for (const char* source : sums) {
    for (const char* schedule :
         {"", "Y: split k 4 -> ko ki\n", "Y: split i 4 -> io ii\nY: reorder io k ii\nY: vectorize ii\n",
          "Y: parallel i\n", "Y: split i 8 -> b t\nY: bind b blockIdx.x\nY: bind t threadIdx.x\n"}) {
      for (const std::int64_t n : {0, 1, 5, 16, 70}) check_schedule(source, schedule, {{"N", n}, {"q", 2}});
    }
  }
}
