// Tests of `ferry check`, which executes the threads of a kernel step by step.
#include <doctest/doctest.h>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/support/gpu_schedules.h"

using namespace ferry::test;

TEST_CASE("a schedule for a GPU is checked without one") {
  const Folder folder;
  const std::string kernel = folder.file("mm.tc", kMatmul);
  for (const std::string& text : {kTiled, kPipelined}) {
    const Outcome check = run_ferry(
        {"check", kernel, "--schedule", folder.file("gpu.schedule", text), "--size", "M=13,N=9,K=11", "--seed", "7"});
    INFO(check.out << check.err);
    CHECK(check.code == 0);
    CHECK(contains(check.out, "check C: fine: all 117 elements"));
    CHECK(contains(check.out, "mm: fine: no race, and every index inside of its tensor, as compiled for opencl"));
  }
}

TEST_CASE("a schedule for this machine is checked too, and the answer comes as JSON") {
  const Folder folder;
  const Outcome check = run_ferry(
      {"check", folder.file("mm.tc", kMatmul), "--schedule-text", "parallel m", "--size", "M=5,N=3,K=4", "--json"});
  INFO(check.out << check.err);
  CHECK(check.code == 0);
  CHECK(contains(check.out, "\"fine\": true"));
  CHECK(contains(check.out, "\"mistake\": null"));
}

TEST_CASE("an index that data leads outside of its tensor is told, and the exit code says so") {
  const Folder folder;
  const Outcome check =
      run_ferry({"check", "-e", "def pick(float(N) A, int32(M) I) -> (B) { B(i) = A(I(i)) where i in 0:M }", "--arg",
                 "I=:iota", "--size", "N=10,M=20"});
  INFO(check.out << check.err);
  CHECK(check.code == 1);
  CHECK(contains(check.err, "'B' reads 'A' outside its shape: expected i64(I[i]) as index 1 to stay within 0:N"));
}

TEST_CASE("what a GPU has no room for is told with the numbers before anything runs") {
  const Folder folder;
  const Outcome check =
      run_ferry({"check", folder.file("mm.tc", kMatmul), "--schedule", folder.file("gpu.schedule", kTiled), "--size",
                 "M=8,N=8,K=8", "--target", "opencl -max_shared_memory_per_block=100"});
  INFO(check.out << check.err);
  CHECK(check.code == 2);
  CHECK(contains(check.err, "expected at most 100 bytes of shared memory for a block"));
}

TEST_CASE("a module has no loops to check") {
  const Folder folder;
  const Outcome compile = run_ferry({"compile", folder.file("mm.tc", kMatmul), "-o", folder.path("mm.ferry")});
  REQUIRE(compile.code == 0);
  const Outcome check = run_ferry({"check", folder.path("mm.ferry"), "--size", "M=8,N=8,K=8"});
  CHECK(check.code == 2);
  CHECK(contains(check.err, "expected a kernel in ferry's own notation"));
}
