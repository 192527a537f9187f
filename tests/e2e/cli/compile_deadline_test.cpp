// Tests that compilation always ends: with an error message for nonsensical sizes, at its deadline, or on Ctrl-C.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"

using namespace ferry;
using test::contains;
using test::Folder;
using test::Outcome;
using test::run_ferry;

namespace {

const char* const kStencil = "def b(float(N) A) -> (B) { B(i) = A(i) + A(i+1) + A(i+2) }";
const char* const kConvolution = "def conv1d(float(N) I, float(K) W) -> (Y) { Y(w) +=! I(w+k) * W(k) }";

// Returns a program that takes minutes to compile.
std::string many_kernels() {
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "k" + std::to_string(i);
    text += "def " + name + "(float(N,M) A) -> (B) { m(i) max=! A(i,j)  e(i,j) = exp(A(i,j) - m(i))  s(i) +=! e(i,j)" +
            "  B(i,j) = tanh(e(i,j) / s(i)) + erf(A(i,j)) }\n";
  }
  return text;
}

}  // namespace

TEST_CASE("sizes that no call can have are refused before a schedule is chosen by them") {
  const std::string refused = "ferry: b: argument 2 'B': expected sizes of at least 0, got N - 2 = -1\n";
  const Folder folder;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "-e", kStencil, "--arg", "A=f32[1]:iota"},
        {"run", "-e", kStencil, "--size", "N=1", "--schedule", "none"},
        {"compile", "-e", kStencil, "--size", "N=1", "-o", folder.path("b.ferry")},
        {"check", "-e", kStencil, "--size", "N=1"},
        {"bench", "-e", kStencil, "--sweep", "N=1,2,3", "--no-peak"}}) {
    const Outcome outcome = run_ferry(words);
    CHECK(outcome.code == 2);
    CHECK(outcome.err == refused);
  }
  const Outcome window = run_ferry({"run", "-e", kConvolution, "--size", "N=3,K=9"});
  CHECK(window.code == 2);
  CHECK(window.err.find("expected sizes of at least 0, got N - K + 1 = -5") != std::string::npos);
  const Outcome broken = run_ferry(
      {"compile", "-e", "def f(float(N) A) -> (B) { require(N % 4 == 0, \"fours\") B(i) = A(i) }", "--size", "N=6"}, "",
      {}, folder.path(""));
  CHECK(broken.code == 2);
  CHECK(broken.err.find("fours (requires") != std::string::npos);
}

TEST_CASE("a combination over less than nothing is one over nothing") {
  const Outcome outcome = run_ferry(
      {"run", "-e", "def f(float(N) A) -> (s) { s() +=! A(k) where k in 0:N-5 }", "--size", "N=1", "--check"});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.starts_with("s = f32[]\n0.0\n"));
}

TEST_CASE("a deadline ends compiling, and nothing is written") {
  const Folder folder;
  const std::string text = folder.file("many.tc", many_kernels());
  const Outcome outcome = run_ferry({"compile", text, "--compile-deadline", "0.5", "-o", folder.path("many.ferry")});
  CHECK(outcome.code == 1);
  CHECK(outcome.err == "ferry: compiling " + text + " took longer than its deadline of 500 ms\n");
  CHECK(outcome.seconds < 60);
  CHECK(!std::filesystem::exists(folder.path("many.ferry")));
  // A deadline that is met changes nothing.
  CHECK(run_ferry({"run", "-e", kStencil, "--arg", "A=f32[5]:iota", "--compile-deadline", "600"}).code == 0);
}

TEST_CASE("a deadline ends the compiler of C as well") {
  const Folder folder;
  // The seconds tell it from others.
  const std::string slow = folder.file("slow", "#!/bin/sh\nexec sleep 634.7\n");
  std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
  const std::string kernel = folder.file("k.c", "// ferry: k(inout f32[1] x)\nvoid k(float* x) { x[0] = 1; }\n");
  const std::string temporary = folder.path("temporary");
  std::filesystem::create_directory(temporary);
  const Outcome outcome =
      run_ferry({"run", kernel, "--compile-deadline", "2"}, "", {{"FERRY_CLANG", slow}, {"TMPDIR", temporary}});
  CHECK(outcome.code == 1);
  // The folder of the local server goes a moment later, when the server ends.
  for (const auto& entry : std::filesystem::directory_iterator(temporary))
    CHECK_MESSAGE(!entry.path().filename().string().starts_with("ferry-link-"), entry.path().string());
  CHECK(outcome.err.find("took longer than its deadline of 2.00 s\n") != std::string::npos);
  const auto runs = [&] {
    for (const auto& entry : std::filesystem::directory_iterator("/proc"))
      if (contains(test::content_of(entry.path() / "cmdline"), "634.7")) return true;
    return false;
  };
  for (int tries = 0; tries < 100 && runs(); ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(!runs());
}

TEST_CASE("a deadline holds for a kernel in C that is checked, too, and for the one that it is checked against") {
  const Folder folder;
  const std::string slow = folder.file("slow", "#!/bin/sh\nexec sleep 20\n");
  std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
  const std::string kernel = folder.file("k.c", "// ferry: k(inout f32[1] x)\nvoid k(float* x) { x[0] = 1; }\n");
  const Outcome outcome = run_ferry({"check", kernel, "--compile-deadline", "1"}, "", {{"FERRY_CLANG", slow}});
  CHECK(outcome.code == 1);
  CHECK(outcome.err == "ferry: compiling " + kernel + " took longer than its deadline of 1.00 s\n");
  const std::string other = folder.file("other.c", "// ferry: k(inout f32[1] x)\nvoid k(float* x) { x[0] = 1; }\n");
  const std::string slow_for_one =
      folder.file("slow_for_one", "#!/bin/sh\ncase \"$*\" in *other.c*) exec sleep 30;; esac\nexec clang-19 \"$@\"\n");
  std::filesystem::permissions(slow_for_one, std::filesystem::perms::owner_all);
  const Outcome against = run_ferry({"check", kernel, "--check-against", other, "--compile-deadline", "5"}, "",
                                    {{"FERRY_CLANG", slow_for_one}});
  CHECK(against.code == 1);
  CHECK(against.err == "ferry: compiling " + other + " took longer than its deadline of 5.00 s\n");
}

TEST_CASE("Ctrl-C ends compiling") {
  const Folder folder;
  const std::string text = folder.file("many.tc", many_kernels());
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    const int nothing = open("/dev/null", O_RDWR);
    for (int stream = 0; stream < 3; ++stream) {
      if (dup2(nothing, stream) < 0) _exit(125);
    }
    execl(FERRY_BINARY_DIR "/bin/ferry", "ferry", "compile", text.c_str(), "-o", folder.path("many.ferry").c_str(),
          nullptr);
    _exit(126);
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));
  REQUIRE(waitpid(child, nullptr, WNOHANG) == 0);
  kill(child, SIGINT);
  const auto start = std::chrono::steady_clock::now();
  int status = 0;
  waitpid(child, &status, 0);
  CHECK((WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)) != 0);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}
