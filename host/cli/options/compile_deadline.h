// Limits the time of compilation on this machine.
#pragma once

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace ferry::cli {

// Returns the earlier deadline, where 0 is none.
inline double first_deadline(double a, double b) { return a == 0 || (b > 0 && b < a) ? b : a; }

// Adds an option with a number of seconds.
void add_deadline(CLI::App& command, const char* name, double& seconds, const char* help);
// Adds --compile-deadline SECONDS.
void add_compile_deadline(CLI::App& command, double& seconds);

// Limits the process to this many seconds while the object exists; 0: no limit. On expiry it prints a message and ends
// the process with the exit code of a missed deadline: neither LLVM nor an infinite loop can be interrupted, and
// nothing they hold outlives the process.
class CompileDeadline {
 public:
  CompileDeadline(double seconds, std::string what);
  ~CompileDeadline();
  CompileDeadline(const CompileDeadline&) = delete;
  CompileDeadline& operator=(const CompileDeadline&) = delete;

 private:
  void watch(double seconds, const std::string& what);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
  std::thread watcher_;
};

}  // namespace ferry::cli
