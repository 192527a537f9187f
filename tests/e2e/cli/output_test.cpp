// Tests of ferry's output: files are written completely or left unchanged, standard output, and source code for GPUs.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"

using namespace ferry;
using test::Folder;
using test::Outcome;
using test::run_ferry;

TEST_CASE("-o - is standard output, of modules and objects too") {
  const Folder folder;
  const std::string module = folder.path("mm.ferry");
  REQUIRE(run_ferry({"compile", "-e", test::kMatmul, "-o", module}).code == 0);
  const std::string whole = test::content_of(module);
  const Outcome printed = run_ferry({"compile", "-e", test::kMatmul, "-o", "-"});
  CHECK(printed.err.empty());
  CHECK(printed.out == whole);
  CHECK(run_ferry({"compile", "-e", test::kMatmul, "-o", "-", "--json"}).code == 2);
  const Outcome object = run_ferry({"compile", "-e", test::kMatmul, "--emit", "obj", "-o", "-"});
  CHECK(
      object.out.starts_with("\x7f"
                             "ELF"));
}

TEST_CASE("a text for a GPU comes from a schedule for one, or says that nothing is bound") {
  for (const char* stage : {"cuda", "opencl", "ptx"}) {
    CAPTURE(stage);
    const Outcome bound = run_ferry({"compile", "-e", test::kMatmul, "--emit", stage});
    CHECK_MESSAGE(bound.err.empty(), bound.err);
    const char* index = std::string(stage) == "opencl" ? "get_group_id"
                        : std::string(stage) == "cuda" ? "blockIdx"
                                                       : "%ctaid";
    CHECK(bound.out.find(index) != std::string::npos);
    const Outcome serial = run_ferry({"compile", "-e", test::kMatmul, "--emit", stage, "--schedule", "none"});
    CHECK(serial.code == 0);
    CHECK(serial.err ==
          "ferry: note: mm: nothing is bound to blocks or threads, so one thread of one block computes all of it\n");
    const Outcome cpu = run_ferry({"compile", "-e", test::kMatmul, "--emit", stage, "--target", "x86-64-v3"});
    CHECK(cpu.err == serial.err);
  }
}

TEST_CASE("a signal that the shell has told ferry to ignore does not end a run") {
  const Folder folder;
  const std::string script = folder.file(
      "run.sh", "trap '' INT\n'" FERRY_BINARY_DIR "/bin/ferry' run '" + folder.file("mm.tc", test::kMatmul) +
                    "' --size M=1000,N=1000,K=1000 --schedule none > /dev/null 2> " + folder.path("err") +
                    " &\nP=$!\nsleep 1\nkill -INT $P\nwait $P\n");
  const int status = std::system(("env -u FERRY_REMOTE bash " + script).c_str());
  CAPTURE(test::content_of(folder.path("err")));
  CHECK(WEXITSTATUS(status) == 0);
}
