#include "tests/fuzz/cases/run_case.h"

#include "tests/fuzz/cases/generate_program.h"
#include "tests/fuzz/cases/oracles.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace ferry::fuzz {

namespace {

using Clock = std::chrono::steady_clock;

// A case takes a tenth of a second. On a busy machine it may have to wait, so that time alone says little.
constexpr int kCapSeconds = 120, kProcessorSeconds = 20;

// What the child tells: a letter and a line each.
class Teller : public Progress {
 public:
  explicit Teller(int pipe) : pipe_(pipe) {}
  void step(const std::string& name) override { tell('S', name); }
  void directive(const std::string& text) override { tell('D', text); }
  void dropped(const std::string& sentence) override { tell('X', sentence); }
  void refused(const std::string& directive, const std::string& sentence) override {
    tell('R', directive + '\x1e' + sentence);
  }
  void verdict(const std::string& kind, const std::string& message) { tell('V', kind + '\x1e' + message); }

 private:
  void tell(char tag, std::string text) const {
    std::replace(text.begin(), text.end(), '\n', '\x1f');
    const std::string line = tag + text + "\n";
    std::size_t written = 0;
    while (written < line.size()) {
      const ssize_t count = write(pipe_, line.data() + written, line.size() - written);
      if (count <= 0) _exit(3);
      written += static_cast<std::size_t>(count);
    }
  }
  int pipe_;
};

std::pair<std::string, std::string> halves(const std::string& text) {
  const std::size_t at = text.find('\x1e');
  return {text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1)};
}

void note(Outcome& outcome, std::string line) {
  if (line.empty()) return;
  std::replace(line.begin(), line.end(), '\x1f', '\n');
  const std::string text = line.substr(1);
  switch (line[0]) {
    case 'S': outcome.step = text; break;
    case 'D': outcome.directives.push_back(text); break;
    case 'X':
      outcome.refusals.emplace_back("(lowering) " + outcome.directives.back(), text);
      outcome.directives.pop_back();
      break;
    case 'R': outcome.refusals.push_back(halves(text)); break;
    case 'V': std::tie(outcome.kind, outcome.message) = halves(text); break;
    default: break;
  }
}

// Reads until the child closes its end; false when the time was over first.
bool read_all(int pipe, std::string& text) {
  const auto end = Clock::now() + std::chrono::seconds(kCapSeconds);
  char buffer[4096];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd ready{pipe, POLLIN, 0};
    if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) <= 0) return false;
    const ssize_t count = read(pipe, buffer, sizeof buffer);
    if (count <= 0) return true;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

Outcome in_child(const FuzzCase& fuzz_case, const std::optional<std::uint64_t>& schedule_seed) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    // The test framework of the parent must not report for its copy.
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS, SIGTERM}) std::signal(signal, SIG_DFL);
    const rlimit limit{kProcessorSeconds, kProcessorSeconds + 1};
    setrlimit(RLIMIT_CPU, &limit);
    Teller teller(ends[1]);
    const Verdict verdict = judge(fuzz_case, schedule_seed, teller);
    teller.verdict(verdict.kind, verdict.message);
    _exit(0);
  }
  close(ends[1]);
  std::string told;
  const bool in_time = read_all(ends[0], told);
  close(ends[0]);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  Outcome outcome;
  outcome.kind = "crash";
  for (std::size_t at = 0; at < told.size();) {
    const std::size_t end = told.find('\n', at);
    if (end == std::string::npos) break;
    note(outcome, told.substr(at, end - at));
    at = end + 1;
  }
  if (!in_time || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
    outcome.kind = "hang";
    outcome.message = "no result within " + (in_time ? std::to_string(kProcessorSeconds) + " s of the processor"
                                                     : std::to_string(kCapSeconds) + " s");
  } else if (outcome.kind == "crash") {
    outcome.message = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "the process ended";
  }
  return outcome;
}

}  // namespace

Outcome run_generated(const FuzzCase& fuzz_case, std::uint64_t schedule_seed) {
  return in_child(fuzz_case, schedule_seed);
}

Outcome run_case(const FuzzCase& fuzz_case) { return in_child(fuzz_case, std::nullopt); }

std::pair<FuzzCase, Outcome> run_seed(std::uint64_t seed) {
  Random random(seed);
  FuzzCase fuzz_case = generate_program(random);
  fuzz_case.seed = seed;
  fuzz_case.target = random.of(native_targets());
  Outcome outcome = run_generated(fuzz_case, random.bits());
  fuzz_case.directives = outcome.directives;
  return {std::move(fuzz_case), std::move(outcome)};
}

}  // namespace ferry::fuzz
