// A client of a farm that the tests stop, continue and kill: takes one lease after the other, calls a kernel while it
// has the board, and writes down what happens. All times are nanoseconds of CLOCK_MONOTONIC.
//
//   ferry_farm_fault_client REMOTE KEY_FILE REPORT HOLD_MS ONCE
//
// Each lease is held for a random part of HOLD_MS, or, with ONCE = 1, a single one for all of it. SIGTERM ends the
// client after the lease that it has or waits for. The report's lines:
//
//   ask N              a lease is asked for
//   granted N TIME BOARD
//   call N SENT RECEIVED     the board has answered
//   failed N TIME MESSAGE    instead of a board or of an answer
//   over N TIME
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "ferry/client.h"
#include "ferry/compile.h"

namespace {

using namespace ferry;
using std::chrono::milliseconds;

volatile std::sig_atomic_t is_stopping = 0;

long long now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

class Report {
 public:
  explicit Report(const char* path) : file_(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  ~Report() { close(file_); }
  // A line is written whole or, if the client is killed, not at all.
  void line(const std::string& text) const {
    const std::string whole = text + "\n";
    if (write(file_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) std::abort();
  }

 private:
  int file_;
};

class FaultClient {
 public:
  FaultClient(char** arguments)
      : remote_(arguments[0]), key_file_(arguments[1]), report_(arguments[2]), hold_ms_(std::atoi(arguments[3])) {}

  void take_lease(bool is_whole) {
    const std::string lease = std::to_string(++leases_);
    report_.line("ask " + lease);
    try {
      ConnectOptions options;
      options.key_file = key_file_;
      const Device device = connect(remote_, options);
      const std::string name = device.name();
      report_.line("granted " + lease + " " + std::to_string(now()) + " " + name.substr(0, name.find(' ')));
      if (!module_) module_ = compile("def twice(float(N) A) -> (B) { B(i) = A(i) * 2.0 }", target_of(device));
      use(device, lease,
          milliseconds(is_whole ? hold_ms_ : static_cast<int>(random_() % static_cast<unsigned>(hold_ms_))));
    } catch (const std::exception& error) {
      report_.line("failed " + lease + " " + std::to_string(now()) + " " + error.what());
      std::this_thread::sleep_for(milliseconds(50));
    }
    report_.line("over " + lease + " " + std::to_string(now()));
  }

 private:
  void use(const Device& device, const std::string& lease, milliseconds hold) const {
    const Module module = device.load(*module_);
    const Function function = module["twice"];
    const std::vector<Argument> arguments = {device.filled(DType::f32, {1}, FillKind::ones),
                                             device.empty(DType::f32, {1})};
    const auto until = std::chrono::steady_clock::now() + hold;
    do {
      const long long sent = now();
      function.call(arguments);
      report_.line("call " + lease + " " + std::to_string(sent) + " " + std::to_string(now()));
      std::this_thread::sleep_for(milliseconds(20));
    } while (std::chrono::steady_clock::now() < until && is_stopping == 0);
  }

  const std::string remote_, key_file_;
  const Report report_;
  const int hold_ms_;
  std::mt19937 random_{static_cast<unsigned>(getpid())};
  std::optional<CompiledModule> module_;
  int leases_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6 || std::atoi(argv[4]) < 1) {
    std::fprintf(stderr, "usage: ferry_farm_fault_client REMOTE KEY_FILE REPORT HOLD_MS ONCE\n");
    return 2;
  }
  std::signal(SIGTERM, [](int) { is_stopping = 1; });
  const bool is_once = std::atoi(argv[5]) == 1;
  FaultClient client(argv + 1);
  do {
    client.take_lease(is_once);
  } while (!is_once && is_stopping == 0);
  return 0;
}
