#include "tests/fuzz/cases/run_case.h"

#include "tests/fuzz/cases/generate_program.h"
#include "tests/fuzz/cases/oracles.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <ctime>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace ferry::fuzz {

namespace {

using Clock = std::chrono::steady_clock;

// A case takes a tenth of a second of processor time. Some take much longer, so a case counts as hanging only after the
// longer limit; while failures are shrunk, the shorter limit applies. On a busy machine a case may have to wait, so
// wall-clock time alone says little: a case that used no processor time for kStuckSeconds is stuck.
constexpr int kProcessorSeconds = 20, kLongProcessorSeconds = 300, kStuckSeconds = 120;
// Maximum number of times that sizes are halved.
constexpr int kMostHalvings = 6;

// Reports the child's progress through a pipe: a letter and a text in each line.
class Teller : public Progress {
 public:
  explicit Teller(int pipe) : pipe_(pipe) {}
  void step(const std::string& name) override { tell('S', name); }
  void slow(const std::string& step) override { tell('L', step); }
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
    case 'L': outcome.slow.push_back(text); break;
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

std::int64_t processor_milliseconds_of(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

// Reads until the child closes its end; returns false if it has neither reported nor computed anything for a long time.
bool read_all(pid_t child, int pipe, std::string& text) {
  constexpr int kPollMilliseconds = 5000;
  char buffer[4096];
  auto last_sign = Clock::now();
  std::int64_t before = 0;
  while (true) {
    pollfd ready{pipe, POLLIN, 0};
    if (poll(&ready, 1, kPollMilliseconds) == 0) {
      const std::int64_t now = processor_milliseconds_of(child);
      if (now > before) last_sign = Clock::now();
      before = now;
      if (Clock::now() - last_sign > std::chrono::seconds(kStuckSeconds)) return false;
      continue;
    }
    last_sign = Clock::now();
    const ssize_t count = read(pipe, buffer, sizeof buffer);
    if (count <= 0) return true;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

Outcome in_child(const FuzzCase& fuzz_case, const std::optional<std::uint64_t>& schedule_seed, int seconds) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    // The child must not run the signal handlers of the parent's test framework.
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS, SIGTERM}) std::signal(signal, SIG_DFL);
    const rlimit limit{static_cast<rlim_t>(seconds), static_cast<rlim_t>(seconds) + 1};
    setrlimit(RLIMIT_CPU, &limit);
    Teller teller(ends[1]);
    const Verdict verdict = judge(fuzz_case, schedule_seed, teller);
    teller.verdict(verdict.kind, verdict.message);
    _exit(0);
  }
  close(ends[1]);
  std::string told;
  const bool moves = read_all(child, ends[0], told);
  close(ends[0]);
  if (!moves) kill(child, SIGKILL);
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
  if (!moves || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
    outcome.kind = "hang";
    outcome.message = moves ? "no result within " + std::to_string(seconds) + " s of the processor"
                            : "nothing computed for " + std::to_string(kStuckSeconds) + " s";
  } else if (outcome.kind == "crash") {
    outcome.message = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "the process ended";
  }
  return outcome;
}

FuzzCase halved(FuzzCase fuzz_case) {
  for (auto& [name, size] : fuzz_case.sizes) size /= 2;
  return fuzz_case;
}

// Reduces the sizes until every oracle is fast enough; a requirement of the program may prevent that. Returns the
// failure, if there is one.
std::optional<std::pair<FuzzCase, Outcome>> failure_when_smaller(FuzzCase fuzz_case) {
  for (int i = 0; i < kMostHalvings; ++i) {
    fuzz_case = halved(std::move(fuzz_case));
    const Outcome outcome = in_child(fuzz_case, std::nullopt, kLongProcessorSeconds);
    if (outcome.kind == "error" && outcome.message.starts_with("the program:")) return std::nullopt;
    if (outcome.is_failure()) return std::pair(fuzz_case, outcome);
    if (outcome.slow.empty()) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Outcome run_generated(const FuzzCase& fuzz_case, std::uint64_t schedule_seed) {
  Outcome outcome = in_child(fuzz_case, schedule_seed, kProcessorSeconds);
  if (outcome.kind != "hang") return outcome;
  const std::string step = outcome.step;
  outcome = in_child(fuzz_case, schedule_seed, kLongProcessorSeconds);
  if (outcome.kind != "hang") outcome.slow.push_back(step);
  return outcome;
}

Outcome run_case(const FuzzCase& fuzz_case) { return in_child(fuzz_case, std::nullopt, kProcessorSeconds); }

std::pair<FuzzCase, Outcome> run_seed(std::uint64_t seed) {
  Random random(seed);
  FuzzCase fuzz_case = generate_program(random);
  fuzz_case.seed = seed;
  fuzz_case.by_api = seed % 4 == 1;
  fuzz_case.target = random.of(native_targets());
  Outcome outcome = run_generated(fuzz_case, random.bits());
  fuzz_case.directives = outcome.directives;
  if (outcome.kind == "ok" && !outcome.slow.empty()) {
    if (auto smaller = failure_when_smaller(fuzz_case)) return std::move(*smaller);
  }
  return {std::move(fuzz_case), std::move(outcome)};
}

}  // namespace ferry::fuzz
