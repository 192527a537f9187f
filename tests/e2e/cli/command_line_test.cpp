// Tests what all commands have in common: help, suggestions, colours, completion.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/e2e/cli/terminal.h"
#include "tests/paths.h"

using namespace ferry;
using test::contains;
using test::Folder;
using test::kTwice;
using test::Outcome;
using test::run_ferry;
using test::run_on_terminal;

namespace {

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  return longest;
}

// Whether this shell is on this machine; says so if it is not.
bool is_installed(const std::string& shell) {
  const bool is_there = std::system(("command -v " + shell + " > /dev/null").c_str()) == 0;
  if (!is_there) MESSAGE(shell << " is not installed, so its completion is not tried here");
  return is_there;
}

// Returns what bash offers to complete the last of these words to, separated by spaces.
std::string completed_in_bash(const std::string& words, const Folder& folder) {
  const std::string script =
      folder.file("complete.sh", "PATH=" FERRY_BINARY_DIR "/bin:$PATH\nexport XDG_CONFIG_HOME=" + folder.path("") +
                                     "\nsource <(ferry completion bash)\nCOMP_WORDS=(" + words +
                                     ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_ferry\necho \"${COMPREPLY[*]}\"\n");
  const std::string out = folder.path("completed");
  CHECK(std::system(("cd " + folder.path("") + " && bash " + script + " > " + out + " 2> " + out + ".err").c_str()) ==
        0);
  CHECK(test::content_of(out + ".err") == "");
  const std::string text = test::content_of(out);
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("help shows what --help shows") {
  CHECK(run_ferry({"help"}).out == run_ferry({"--help"}).out);
  CHECK(run_ferry({"help", "run"}).out == run_ferry({"run", "--help"}).out);
  const Outcome unknown = run_ferry({"help", "rnu"});
  CHECK(unknown.code == 2);
  CHECK(unknown.err == "ferry: there is no command 'rnu'; did you mean 'run'?\n");
}

TEST_CASE("an unknown option names the nearest one, and how to see the others") {
  const Outcome outcome = run_ferry({"run", "fir.tc", "--siz", "n=20"});
  CHECK(outcome.code == 2);
  CHECK(outcome.err == "ferry: 'ferry run' has no option '--siz'; did you mean '--size'?\nTry 'ferry help run'.\n");
}

TEST_CASE("inspect of a text says what makes a module of it") {
  const Folder folder;
  const std::string file = folder.file("fir.tc", kTwice);
  const Outcome outcome = run_ferry({"inspect", file});
  CHECK(outcome.code == 2);
  CHECK(outcome.err ==
        "ferry: " + file + ": expected a compiled module, such as 'ferry compile " + file + "' makes, got a text\n");
}

TEST_CASE("help fits the terminal, and is not broken anywhere else") {
  CHECK(longest_line(run_on_terminal({"help", "run"}, 90).out) <= 110);  // examples are not broken
  CHECK(longest_line(run_ferry({"help", "run"}).out) > 110);
}

TEST_CASE("messages have colours on a terminal, unless somebody says otherwise") {
  const std::string red = "\033[31mferry:\033[0m there is no command";
  CHECK(contains(run_on_terminal({"rnu"}).out, red));
  CHECK(contains(run_on_terminal({"rnu"}, 80, {{"NO_COLOR", "1"}}).out, "ferry: there is no command"));
  CHECK(!contains(run_on_terminal({"rnu"}, 80, {{"NO_COLOR", "1"}}).out, "\033[3"));
  CHECK(!contains(run_on_terminal({"rnu"}, 80, {{"TERM", "dumb"}}).out, "\033[3"));
  CHECK(contains(run_on_terminal({"--color=always", "rnu"}, 80, {{"NO_COLOR", "1"}}).out, red));
  CHECK(!contains(run_on_terminal({"--color=never", "rnu"}).out, "\033[3"));
  CHECK(!contains(run_ferry({"rnu"}).err, "\033["));
  CHECK(contains(run_ferry({"--color=always", "rnu"}).err, red));
  CHECK(contains(run_ferry({"run", "--color", "always"}).err, "\033[31mferry:\033[0m expected a kernel"));
}

TEST_CASE("run --quiet prints nothing but mistakes") {
  const Outcome fine = run_ferry({"run", "-e", kTwice, "--size", "N=4", "--check", "--quiet"});
  CHECK_MESSAGE(fine.code == 0, fine.err);
  CHECK(fine.out.empty());
  CHECK(fine.err.empty());
  const Folder folder;
  const std::string wrong = folder.file("wrong.c",
                                        "// ferry: f(in f32[N] A, out f32[N] B)\nvoid f(const float* A, float* B, long "
                                        "n) { for (long i = 0; i < n; ++i) B[i] = A[i]; }\n");
  const Outcome differs =
      run_ferry({"run", wrong, "--check-against", folder.file("twice.tc", kTwice), "--size", "N=4", "-q"});
  CHECK(differs.code == 1);
  CHECK(differs.out.empty());
  CHECK(differs.err.starts_with("ferry: wrong result: B[0] is "));
  CHECK(run_ferry({"run", "-e", kTwice, "--size", "N=4", "-q", "--json"}).code == 2);
}

TEST_CASE("--junit writes what run and check found, also when nothing ran") {
  const Folder folder;
  const std::string file = folder.path("report.xml");
  const std::string fine = folder.file("twice.tc", kTwice);
  CHECK(run_ferry({"run", fine, "--size", "N=4", "--check", "--junit", file}).code == 0);
  std::string report = test::content_of(file);
  CHECK(contains(report, "<testsuite name=\"ferry run " + fine + "\" tests=\"3\" failures=\"0\" errors=\"0\""));
  CHECK(contains(report, "name=\"twice runs\" time=\"0.0"));
  CHECK(contains(report, "name=\"B as it is defined\""));

  const Outcome missing = run_ferry({"run", folder.path("none.tc"), "--junit", file});
  CHECK(missing.code == 2);
  report = test::content_of(file);
  CHECK(contains(report, "tests=\"1\" failures=\"0\" errors=\"1\""));
  CHECK(contains(report, "<error message=\"cannot read "));

  const std::string wrong = folder.file("wrong.c",
                                        "// ferry: f(in f32[N] A, out f32[N] B)\nvoid f(const float* A, float* B, long "
                                        "n) { for (long i = 0; i <= n; ++i) B[i] = A[i]; }\n");
  CHECK(run_ferry({"check", wrong, "--size", "N=4", "--junit", file}).code == 1);
  report = test::content_of(file);
  CHECK(contains(report, "tests=\"1\" failures=\"1\" errors=\"0\""));
  CHECK(contains(report, "name=\"f under sanitizers\""));
  CHECK(run_ferry({"run", fine, "--size", "N=4", "--junit", folder.path("no/such/folder.xml")}).code == 2);
}

TEST_CASE("targets are printed without their features, unless somebody wants them") {
  const Outcome brief = run_ferry({"check", "-e", kTwice, "--size", "N=4", "--target", "x86-64-v3"});
  CHECK(contains(brief.out, "as compiled for llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=x86-64-v3\n"));
  const Folder folder;
  const std::vector<std::string> words = {"compile",
                                          "-e",
                                          kTwice,
                                          "-o",
                                          folder.path("t.ferry"),
                                          "--target",
                                          "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=4"};
  CHECK(contains(run_ferry(words).out, " bytes for llvm -mtriple=aarch64-unknown-linux-gnu -mcpu=cortex-a72 ...\n"));
  std::vector<std::string> whole = words;
  whole.emplace_back("--verbose");
  CHECK(contains(run_ferry(whole).out, " -num-cores=4\n"));
}

TEST_CASE("random inputs of a stated distribution reach the kernel") {
  const Outcome outcome =
      run_ferry({"run", "-e", "def g(float(N,D) E, int(L) I) -> (O) { O(l,d) = E(I(l), d) where l in 0:L }", "--size",
                 "N=7,D=3,L=50", "--arg", "I=:below(N)", "--arg", "E=:normal", "--check"});
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
  const Outcome outside =
      run_ferry({"run", "-e", "def g(float(N) E, int(L) I) -> (O) { O(l) = E(I(l)) where l in 0:L }", "--size",
                 "N=7,L=50", "--arg", "I=:below(8)"});
  CHECK(outside.code == 1);  // an index of 7 is outside
  const Outcome mistake = run_ferry({"run", "-e", kTwice, "--size", "N=4", "--arg", "A=:below(3)"});
  CHECK(mistake.err == "ferry: --arg A=:below(3): below() is for whole numbers, got f32; see uniform(0,B)\n");
}

TEST_CASE("bash completes commands, options, files, words, targets and devices") {
  const Folder folder;
  folder.file("fir.tc", kTwice);
  std::system(("mkdir -p " + folder.path("ferry")).c_str());
  folder.file("ferry/devices.toml", "[pi]\naddress = \"192.168.1.17:9090\"\n\n[gpu-box]\naddress = \"ssh://gpu\"\n");
  CHECK(completed_in_bash("ferry ru", folder) == "run");
  CHECK(completed_in_bash("ferry run --si", folder) == "--signature --size");
  CHECK(completed_in_bash("ferry run fi", folder) == "fir.tc");
  CHECK(completed_in_bash("ferry run --json fi", folder) == "fir.tc");
  CHECK(completed_in_bash("ferry run --size ''", folder) == "");
  CHECK(completed_in_bash("ferry run --color ''", folder) == "auto always never");
  CHECK(completed_in_bash("ferry run --color = al", folder) == "always");
  CHECK(completed_in_bash("ferry compile --emit sch", folder) == "schedule");
  CHECK(completed_in_bash("ferry compile --target raspberry-pi-4", folder) == "raspberry-pi-4 raspberry-pi-4-32bit");
  CHECK(completed_in_bash("ferry run -r ''", folder) == "pi gpu-box");
  CHECK(completed_in_bash("ferry help be", folder) == "bench");
  CHECK(completed_in_bash("ferry completion ''", folder) == "bash zsh fish");
  CHECK(completed_in_bash("ferry farm re", folder) == "reserve release retire");
  CHECK(completed_in_bash("ferry farm token --role ''", folder) == "viewer user admin");
  CHECK(completed_in_bash("ferry farm devices --js", folder) == "--json");
}

TEST_CASE("zsh and fish accept their scripts, and complete with them") {
  const Folder folder;
  for (const char* shell : {"zsh", "fish"}) {
    const std::string script = folder.file(shell, run_ferry({"completion", shell}).out);
    CHECK(contains(test::content_of(script), "raspberry") == false);  // targets are asked for when they are needed
    if (!is_installed(shell)) continue;
    CHECK(std::system((std::string(shell) + " -n " + script).c_str()) == 0);
  }
  if (!is_installed("fish")) return;
  const std::string out = folder.path("completed");
  const std::string command = "env PATH=" FERRY_BINARY_DIR "/bin:$PATH HOME=" + folder.path("") + " fish -c 'source " +
                              folder.path("fish") + "; complete -C \"ferry compile --emit sch\"' > " + out;
  CHECK(std::system(command.c_str()) == 0);
  CHECK(test::content_of(out).starts_with("schedule"));
}
