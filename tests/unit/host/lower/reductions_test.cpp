// Tests of reductions in several steps: each step continues the sum of the previous one.
#include "crosscompile/ir/interpreter.h"
#include "ferry/lang/text.h"
#include "ferry/types.h"
#include "host/lower/lower.h"
#include "tests/support/gpu_schedules.h"
#include "tests/support/kernel_arguments.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::test;

TEST_CASE("a tile under several loops of a reduction goes on from what it had, and starts once") {
  const char* const sum = "def f(int(N,K,L,M) A) -> (C) { C(i) +=! A(i,r,s,t) }";
  const char* const nested = "C: split i 4\nC: reorder r s i.outer t i.inner\nC: vectorize i.inner\n";
  for (const Sizes& sizes : {Sizes{{"N", 5}, {"K", 3}, {"L", 4}, {"M", 2}},
                             {{"N", 8}, {"K", 1}, {"L", 2}, {"M", 3}},
                             {{"N", 3}, {"K", 2}, {"L", 0}, {"M", 3}},
                             {{"N", 3}, {"K", 0}, {"L", 2}, {"M", 3}}})
    check_schedule(sum, nested, sizes);
}

TEST_CASE("a reduction over nothing computes nothing in its loops") {
  const char* const rows =
      "def f(int(N,M) A) -> (C) { B(i,j) = A(i,j) * 2  C(i) +=! B(i+1,r) where i in 0:2, r in 0:M }";
  for (const std::int64_t m : {0, 1, 9})
    check_schedule(rows, "C: reorder r i\nB: compute_at C i\n", {{"N", 3}, {"M", m}});
}

TEST_CASE("partial results may be as many as a loop that runs once says") {
  const char* const window =
      "def f(half(1,9) C, float(4,9) A) -> (C) {\n"
      "  B(i) +=! half(A(i,r+s)) where i in 0:4, r in 0:2, s in 0:2\n"
      "  C(i,k) = (k < 4 ? B(min(i,3)) : B(i)) where i in 0:1, k in 0:9\n"
      "}\n";
  check_schedule(window, "C: split i 8\nB: compute_at C k\nB: reorder s r i\n");
}

TEST_CASE("partial results start from nothing, whatever their sum starts from") {
  const char* const update = "def f(int(N) C, int(N,M) A) -> (C) { C(i) += A(i,r) }";
  for (const std::int64_t m : {0, 1, 8, 13}) {
    check_schedule(update, "C: split r 4\nC: rfactor r.inner\n", {{"N", 5}, {"M", m}});
    check_schedule(update, "C: split r 4\nC: rfactor r.outer\n", {{"N", 5}, {"M", m}});
    check_schedule(update, "C: split r 4\nC: vectorize r.inner reduce\n", {{"N", 5}, {"M", m}});
  }
}

TEST_CASE("sums of float16 and bfloat16 are added up in float32, whatever the schedule") {
  // Accumulated in their own types, 4096 ones would give 2048 and 256.
  constexpr std::int64_t kOnes = 4096;
  for (const char* type : {"half", "bfloat16"}) {
    const std::string one = std::string(type) + "(1 + k / (k + 1))";
    const std::string ones =
        "def f(int N, int K) -> (C) { C(i) +=! " + one + " * " + one + " where i in 0:N, k in 0:K }";
    const Sizes sizes = {{"N", 3}, {"K", kOnes}};
    const lang::Program program = lang::parse(ones, "test.tc").at(0);
    const ir::Function plain = lower::lower(program, schedule::Schedule(program));
    KernelArguments arguments(plain, sizes);
    REQUIRE(ir::interpret(plain, arguments.pointers()) == 0);
    const std::uint16_t sum = arguments.data<std::uint16_t>("C")[1];
    CHECK((type[0] == 'h' ? f16_to_f32(sum) : bf16_to_f32(sum)) == kOnes);
    for (const char* schedule :
         {"C: reorder k i\n", "C: split k 8\nC: reorder k.outer i k.inner\n",
          "C: split i 2\nC: reorder i.outer k i.inner\n", "C: split k 8\nC: rfactor k.outer\n",
          "C: split k 8\nC: vectorize k.inner reduce\n", "C: cache_write local -> L\nL: compute_at C i\n",
          "C: parallel i\n", "C: split i 2\nC: reorder k i.outer i.inner\nC: vectorize i.inner\n"})
      check_schedule(ones, schedule, sizes);
    check_schedule(ones, row_by_block("C", 64), sizes);
  }
}

TEST_CASE("a sum of float16 rounds the product of its terms with the sum, and starts from what it updates") {
  const auto bits = [](float value) { return f32_to_f16(value); };
  const lang::Program program =
      lang::parse("def f(half(N) C, half(N,K) A) -> (C) { C(i) += A(i,k) * A(i,k) }", "test.tc").at(0);
  const ir::Function plain = lower::lower(program, schedule::Schedule(program));
  KernelArguments arguments(plain, {{"N", 1}, {"K", 2}});
  // The squares alone would overflow to infinity, or be rounded away.
  arguments.data<std::uint16_t>("C")[0] = bits(-60000);
  arguments.data<std::uint16_t>("A")[0] = bits(300);
  arguments.data<std::uint16_t>("A")[1] = bits(0x1p-4f);
  REQUIRE(ir::interpret(plain, arguments.pointers()) == 0);
  CHECK(f16_to_f32(arguments.data<std::uint16_t>("C")[0]) == f16_to_f32(bits(30000.00390625f)));
}
