// A limit on how long this machine may compile.
#pragma once

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace ferry::cli {

// The one that passes first, where 0 is none.
inline double first_deadline(double a, double b) { return a == 0 || (b > 0 && b < a) ? b : a; }

// --compile-deadline SECONDS
void add_compile_deadline(CLI::App& command, double& seconds);

// While it exists the process has so many seconds; 0: no limit. When they are over it says so and ends the process with
// the exit code of a missed deadline: neither LLVM nor a loop that does not end can be asked to stop, and nothing that
// they hold outlasts the process.
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
