// Tests of crashing kernels: a crash in a kernel written in C is reported with its line, and any kernel can wait for a
// debugger.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"

using namespace ferry;

TEST_CASE("a crash in a shared object is told with its line, when it was compiled with -g") {
  const test::Folder folder;
  const std::string c = folder.file("astray.c",
                                    "void astray(const float* x, float* y, long n) {\n"
                                    "  y[1l << 40] = x[n - 1];\n"
                                    "}\n");
  const std::string so = folder.path("astray.so");
  REQUIRE(
      std::system(("clang-19 -g -O1 -fPIC -shared -nostdlib -fuse-ld=lld-19 -Wl,--hash-style=both -o " + so + " " + c)
                      .c_str()) == 0);
  const test::Outcome outcome =
      test::run_ferry({"run", so, "--signature", "astray(in f32[n] x, out f32[n] y)", "--arg", "x=f32[3]:iota"});
  CHECK(outcome.code == 1);
  CHECK_MESSAGE(outcome.err.find("astray.c:2)") != std::string::npos, outcome.err);
}

TEST_CASE("a kernel in C that leaves its memory is told with the line it did so in") {
  const test::Folder folder;
  const std::string file = folder.file("astray.c",
                                       "#include <stdint.h>\n"
                                       "// ferry: astray(in f32[n] x, out f32[n] y)\n"
                                       "void astray(const float* x, float* y, int64_t n) {\n"
                                       "  for (int64_t i = 0; i < n; ++i)\n"
                                       "    y[i + (1ll << 40)] = x[i];\n"
                                       "}\n");
  const test::Outcome outcome = test::run_ferry({"run", file, "--arg", "x=f32[3]:iota"});
  CHECK(outcome.code == 1);
  CAPTURE(outcome.err);
  CHECK(outcome.err.find("astray: the kernel ended the session with SIGSEGV (bad memory access) after ") !=
        std::string::npos);
  CHECK(outcome.err.find("astray.c:5)") != std::string::npos);
}

TEST_CASE("run waits for the debugger that it tells how to start, and goes on once it is there") {
  const test::Folder folder;
  const std::string output = folder.path("output"), errors = folder.path("errors"), said = folder.path("said");
  const std::string script = folder.file(
      "debug.sh", FERRY_BINARY_DIR
                      "/bin/ferry run -e 'def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }' --arg A=f32[3]:iota "
                      "--wait-for-debugger >" +
                      output + " 2>" + errors +
                      " & run=$!\n"
                      "for i in $(seq 400); do command=$(sed -n 's/.*on the device: //p' " +
                      errors +
                      "); [ -z \"$command\" ] || break; sleep 0.05; done\n"
                      "timeout 60 $command -nx -batch -ex continue >" +
                      said + " 2>&1 </dev/null\nwait $run\n");
  CHECK(std::system(("timeout 90 sh " + script).c_str()) == 0);
  // How the session ends depends on the debugger.
  CAPTURE(test::content_of(said));
  CHECK(test::content_of(errors).find("waiting for a debugger on the device: gdb -p ") != std::string::npos);
  CHECK(test::content_of(output).starts_with("B = f32[3]\n[0. 2. 4.]\n"));
}
