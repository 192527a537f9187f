// Tests every exit code that docs/exit_codes.md and the help text document, each with a command that causes it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"

using namespace ferry;
using test::contains;
using test::Folder;
using test::kTwice;
using test::Outcome;
using test::run_ferry;

namespace {

// Writes a C function with one tensor parameter.
std::string c_file(const Folder& folder, const std::string& body, const std::string& result = "void") {
  const std::string status = result == "void" ? "" : "i32 ";
  return folder.file("kernel.c", "// ferry: " + status + "f(inout f32[n] y)\n#include <stdint.h>\n" + result +
                                     " f(float* y, int64_t n) {\n" + body + "\n}\n");
}

Outcome run_c(const std::string& file, const std::string& size = "n=8") {
  return run_ferry({"run", file, "--size", size});
}

// Returns the exit code of ferry when its standard output is a full disk.
int code_on_full_disk(const std::string& words) {
  const int status = std::system((FERRY_BINARY_DIR "/bin/ferry " + words + " > /dev/full 2> /dev/null").c_str());
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("the help and the page list the same codes") {
  const std::string help = run_ferry({"--help"}).out;
  std::istringstream page(test::content_of(FERRY_SOURCE_DIR "/docs/exit_codes.md"));
  int rows = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.size() < 6 || line[0] != '|' || line[2] < '0' || line[2] > '9' || line.substr(3, 3) != " | ") continue;
    const std::string code = line.substr(2, 1), meaning = line.substr(6, line.size() - 8);
    CAPTURE(meaning);
    CHECK(contains(help, "\n  " + code + "  " + meaning));
    ++rows;
  }
  CHECK(rows == 6);
}

TEST_CASE("0: fine, and a reader of the output that stops early") {
  CHECK(run_ferry({"run", "-e", kTwice, "--size", "N=4", "--check"}).code == 0);
  const int status = std::system(("bash -c 'set -o pipefail; " FERRY_BINARY_DIR "/bin/ferry compile -e \"" +
                                  std::string(kTwice) + "\" --emit asm | head -1 > /dev/null'")
                                     .c_str());
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("1: a kernel that returns a failure, or is led outside of a tensor by its data") {
  const Folder folder;
  const Outcome failed = run_c(c_file(folder, "  return y[0] >= 0 || n ? 7 : 0;", "int"));
  CHECK(failed.code == 1);
  CHECK_MESSAGE(failed.err == "ferry: f: the kernel failed: it returned 7\n", failed.err);
  const std::vector<std::string> led = {
      "-e",     "def pick(float(N) A, int32(M) I) -> (B) { B(i) = A(I(i)) where i in 0:M }",
      "--arg",  "I=:iota",
      "--size", "N=10,M=20"};
  for (const char* command : {"run", "check", "bench"}) {
    CAPTURE(command);
    std::vector<std::string> words = led;
    words.insert(words.begin(), command);
    const Outcome outside = run_ferry(words);
    CHECK(outside.code == 1);
    CHECK_MESSAGE(contains(outside.err, "'B' reads 'A' outside its shape"), outside.err);
  }
}

TEST_CASE("1: a kernel that crashes, runs too long, or leaves its tensors") {
  const Folder folder;
  CHECK(run_c(c_file(folder, "  *(volatile float*)8 = 1;")).code == 1);
  const Outcome endless = run_ferry({"run", c_file(folder, "  for (volatile int i = 0; i >= 0; i = 1) {}"), "--size",
                                     "n=8", "--call-deadline", "0.2"});
  CHECK(endless.code == 1);
  const Outcome before = run_c(c_file(folder, "  y[-4] = 1;"));
  CHECK(before.code == 1);
  CHECK_MESSAGE(before.err == "ferry: f: the kernel wrote outside of its tensors, before 'y'\n", before.err);
  const Outcome behind = run_c(c_file(folder, "  y[n] = 1;"));
  CHECK(behind.code == 1);
  CHECK_MESSAGE(behind.err == "ferry: f: the kernel wrote outside of its tensors, behind 'y'\n", behind.err);
  // The guard pages around the tensor end the session at once.
  for (const char* body : {"  y[n] = 1;", "  y[-1] = 1;", "  y[0] = y[n + 1000];"}) {
    const Outcome crash = run_c(c_file(folder, body), "n=1024");
    CHECK(crash.code == 1);
    CHECK_MESSAGE(contains(crash.err, "SIGSEGV"), crash.err);
  }
}

TEST_CASE("1: loops that differ") {
  const Folder folder;
  const std::string kernel = folder.file("twice.tc", kTwice);
  CHECK(run_ferry({"diff", kernel, "none", "none"}).code == 0);
  CHECK(run_ferry({"diff", kernel, "none", "default"}).code == 1);
}

TEST_CASE("2: mistakes of the command, the kernel, its arguments or a file") {
  const Folder folder;
  CHECK(run_ferry({"run", "--frobnicate"}).code == 2);
  CHECK(run_ferry({"run", "-e", "def f("}).code == 2);
  CHECK(run_ferry({"run", "-e", kTwice}).code == 2);
  CHECK(run_ferry({"run", folder.path("none.tc")}).code == 2);
  CHECK(run_ferry({"compile", "-e", kTwice, "-o", folder.path("none/k.ferry")}).code == 2);
  CHECK(run_ferry({"run", "-e", kTwice, "--size", "N=4", "--out", "B=@/dev/full"}).code == 2);
  CHECK(run_ferry({"keygen", "/dev/null/k.key"}).code == 2);
  CHECK(run_ferry({"bench", "-e", kTwice, "--size", "N=4", "--cores", "4000", "--no-peak"}).code == 2);
}

TEST_CASE("2: output that is lost") {
  const std::string text = std::string("-e '") + kTwice + "'";
  CHECK(code_on_full_disk("compile --emit asm " + text) == 2);
  CHECK(code_on_full_disk("compile -o - " + text) == 2);
  CHECK(code_on_full_disk("run --size N=4 " + text) == 2);
  CHECK(code_on_full_disk("run --json --size N=900 " + text) == 2);
  CHECK(code_on_full_disk("bench --json --no-peak --warm --repeat 40 --min-repeat-ms 0 --size N=4 " + text) == 2);
  CHECK(code_on_full_disk("--help") == 2);
}

TEST_CASE("3: nobody answers, and a device that another one is not kept from") {
  CHECK(run_ferry({"device", "--remote", "plaintext://127.0.0.1:1"}).code == 3);
  const test::ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/dynamic/rpc_server");
  std::vector<std::string> words = {"bench",
                                    "-e",
                                    kTwice,
                                    "--size",
                                    "N=64",
                                    "-r",
                                    "plaintext://127.0.0.1:1",
                                    "-r",
                                    server.address(),
                                    "--no-peak",
                                    "--repeat",
                                    "6",
                                    "--min-repeat-ms",
                                    "0"};
  const Outcome text = run_ferry(words);
  CHECK(text.code == 3);
  CHECK(contains(text.out, "twice(in f32[N] A, out f32[N] B)"));
  CHECK_MESSAGE(contains(text.err, "ferry: plaintext://127.0.0.1:1: cannot connect to 127.0.0.1:1"), text.err);
  words.emplace_back("--json");
  const Outcome json = run_ferry(words);
  CHECK(json.code == 3);
  CHECK(contains(json.out, "\"code\": \"unavailable\""));
  CHECK(contains(json.out, "\"median_seconds\""));
}
