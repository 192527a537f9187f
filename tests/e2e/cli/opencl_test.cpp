// End-to-end tests of GPU kernels on PoCL, which runs them on this CPU: from the notation to checked results.
#include <doctest/doctest.h>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/support/gpu_schedules.h"

using namespace ferry::test;

TEST_CASE("an addition bound to blocks and threads runs on an OpenCL device and is checked") {
  const Outcome run = run_ferry({"run", "-e", "def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }",
                                 "--target", "opencl", "--size", "N=1000", "--schedule-text",
                                 "split i 64 -> b t; bind b blockIdx.x; bind t threadIdx.x", "--check"});
  INFO(run.out << run.err);
  CHECK(run.code == 0);
}

TEST_CASE("a product in shared memory runs on an OpenCL device at sizes that do not fit its tiles") {
  const Folder folder;
  const std::string schedule = folder.file("tiled.schedule", kTiled);
  for (const char* size : {"M=16,N=24,K=8", "M=13,N=9,K=11", "M=1,N=1,K=1"}) {
    const Outcome run = run_ferry({"run", folder.file("mm.tc", kMatmul), "--target", "opencl", "--size", size,
                                   "--schedule", schedule, "--check"});
    INFO(size << "\n" << run.out << run.err);
    CHECK(run.code == 0);
  }
}

TEST_CASE("two stages are two kernels, which meet in the workspace") {
  const Outcome run = run_ferry(
      {"run", "-e", "def two(float(N) A) -> (C) { S(i) = A(i) * 2 C(i) = S(i) + S(N - 1 - i) where i in 0:N }",
       "--target", "opencl", "--size", "N=500", "--schedule-text",
       "S: split i 64 -> b t; bind b blockIdx.x; bind t threadIdx.x; C: split i 32 -> d u; bind d blockIdx.x; bind u "
       "threadIdx.x",
       "--check"});
  INFO(run.out << run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, "kernel"));
  CHECK(contains(run.out, "\n  two_1  "));
  CHECK(contains(run.out, "share"));
}

TEST_CASE("a kernel on an OpenCL device is timed") {
  const Folder folder;
  const Outcome bench =
      run_ferry({"bench", folder.file("mm.tc", kMatmul), "--target", "opencl", "--size", "M=64,N=64,K=64", "--schedule",
                 folder.file("tiled.schedule", kTiled), "--repeat", "3", "--max-repeat", "3", "--json"});
  INFO(bench.out << bench.err);
  CHECK(bench.code == 0);
  CHECK(contains(bench.out, "\"median_seconds\""));
  CHECK(contains(bench.out, "\"target\": \"opencl\""));
  CHECK(contains(bench.out, "\"steps\""));
  CHECK(contains(bench.out, "\"share\": 1.0"));
}

TEST_CASE("a module for OpenCL is written, and says what it is") {
  const Folder folder;
  const Outcome compile = run_ferry({"compile", folder.file("mm.tc", kMatmul), "--target", "opencl", "--schedule",
                                     folder.file("tiled.schedule", kTiled), "-o", folder.path("mm.ferry")});
  INFO(compile.out << compile.err);
  REQUIRE(compile.code == 0);
  const Outcome inspect = run_ferry({"inspect", folder.path("mm.ferry")});
  INFO(inspect.out << inspect.err);
  CHECK(inspect.code == 0);
  CHECK(contains(inspect.out, "opencl"));
  const Outcome run = run_ferry({"run", folder.path("mm.ferry"), "--size", "M=9,N=10,K=11", "--check"});
  INFO(run.out << run.err);
  CHECK(run.code == 0);
  CHECK(contains(run.out, " on this machine, "));
}
