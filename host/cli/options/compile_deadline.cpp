#include "host/cli/options/compile_deadline.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/quantity_text.h"
#include "host/cli/options/exit_code.h"
#include "host/cli/options/option_checks.h"
#include "host/text/progress.h"

namespace ferry::cli {

void add_deadline(CLI::App& command, const char* name, double& seconds, const char* help) {
  command.add_option(name, seconds, help)->type_name("SECONDS")->check(number(0.001, 1e9))->group("Deadlines");
}

void add_compile_deadline(CLI::App& command, double& seconds) {
  add_deadline(command, "--compile-deadline", seconds, "Limit for compiling a kernel on this machine (default: none)");
}

CompileDeadline::CompileDeadline(double seconds, std::string what) {
  if (seconds > 0) watcher_ = std::thread([this, seconds, what = std::move(what)] { watch(seconds, what); });
}

CompileDeadline::~CompileDeadline() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  changed_.notify_one();
  watcher_.join();
}

void CompileDeadline::watch(double seconds, const std::string& what) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return is_done_; })) return;
  text::Progress::clear();
  fprintf(stderr, "ferry: compiling %s took longer than its deadline of %s\n", what.c_str(),
          seconds_text(seconds).c_str());
  fflush(stderr);
  // Destructors would wait for the compiler. Temporary folders are removed all the same (crosscompile/link).
  std::quick_exit(exit_code_of(ErrorCode::deadline_exceeded));
}

}  // namespace ferry::cli
