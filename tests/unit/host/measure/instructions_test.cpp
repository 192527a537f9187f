// Tests of what counts of instructions say, and of the counters of this machine, which may have none.
#include "host/measure/instructions.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string_view>

#include "ferry/compile.h"
#include "ferry/error.h"

using namespace ferry;
using bench::InstructionCount;
using bench::judge_counts;

namespace {

constexpr std::string_view kTwice = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }";

}  // namespace

TEST_CASE("what surrounds the calls of a sample cancels out") {
  // 700 a call and 1234 around each sample.
  const InstructionCount one = judge_counts("f", {1934, 2634, 1934, 2634}, 1, true);
  REQUIRE(one.per_call.has_value());
  CHECK(*one.per_call == 700);
  CHECK(one.is_exact);
  CHECK(one.reason.empty());
  const InstructionCount seven = judge_counts("f", {6134, 11034, 6134, 11034}, 7, true);
  CHECK(seven.per_call.value_or(0) == 700);
}

TEST_CASE("an emulator's counts must be equal, to the last instruction") {
  const InstructionCount differ = judge_counts("mm", {1934, 2634, 1934, 2635}, 1, true);
  CHECK(!differ.per_call);
  CHECK(differ.reason ==
        "mm: expected two counts of the instructions of a call to be equal, got 700 and 701; does it execute more or "
        "less depending on what earlier calls have left behind?");
}

TEST_CASE("a processor's counts may differ by a thousandth") {
  const InstructionCount near = judge_counts("mm", {1e6, 2e6, 1e6 + 300, 2e6 + 1100}, 1000, false);
  CHECK(near.per_call.value_or(0) == doctest::Approx(1000.4));
  CHECK(!near.is_exact);
  const InstructionCount far = judge_counts("mm", {1e6, 2e6, 1e6, 2e6 + 1100}, 1000, false);
  CHECK(!far.per_call);
  CHECK(far.reason ==
        "mm: expected two counts of the instructions of a call to differ by at most 0.1%, got 1000 and 1001.1");
}

TEST_CASE("counts that cannot be are no count") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const bool is_exact : {false, true}) {
    CAPTURE(is_exact);
    CHECK(!judge_counts("f", {5, 5, 5, 5}, 1, is_exact).per_call);
    CHECK(!judge_counts("f", {9, 5, 9, 5}, 1, is_exact).per_call);
    CHECK(!judge_counts("f", {5, kNan, 5, 7}, 1, is_exact).per_call);
    CHECK(!judge_counts("f", {5, 7, kNan, 7}, 1, is_exact).per_call);
  }
}

TEST_CASE("this machine's processor counts to a thousandth, or the reason is given") {
  const Device device = local_device();
  const Module module = device.load(compile(kTwice, target_of(device)));
  const InstructionCount count = bench::count_instructions(device, module["twice"], {std::vector<float>(50'000, 1.0F)});
  if (count.per_call) {
    CHECK(count.reason.empty());
    // At least a load, a store and a multiplication for 16 elements.
    CHECK(*count.per_call >= 3 * 50'000 / 16.0);
  } else {
    MESSAGE(count.reason);
    CHECK(!count.reason.empty());
  }
  CHECK(!count.is_exact);
  CHECK(!device.facts().counts_instructions);
}

TEST_CASE("a number of calls that cannot be doubled is refused") {
  const Device device = local_device();
  const Module module = device.load(compile(kTwice, target_of(device)));
  CHECK_THROWS_WITH_AS(
      bench::count_instructions(device, module["twice"], {std::vector<float>(5, 1.0F)}, {.number = 1U << 31}),
      "expected at most 2147483647 calls to count the instructions of, got 2147483648", Error);
}
