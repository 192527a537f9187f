#include "device-runtime/supervisor/cleaners.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "device-runtime/measure/clock.h"
#include "device-runtime/sandbox/sandbox.h"
#include "device-runtime/supervisor/background.h"
#include "device-runtime/supervisor/child_process.h"

namespace ferry::device {
namespace {

constexpr std::int64_t kMostWaitNs = 500'000'000;

}  // namespace

void Cleaners::start(const std::string& folder, bool others_run) {
  if (folder.empty() || rmdir(folder.c_str()) == 0 || errno == ENOENT) return;
  const pid_t process = fork();
  if (process == 0) {
    // First of all: a lock of a folder that it shares with the server would outlive that for as long as this gives way.
    close_descriptors_but({});
    begin_background();
    if (others_run) give_way(getpid());
    remove_tree(folder);
    _exit(0);
  }
  if (process <= 0) return;
  processes_.push_back(process);
  give_way_at_ = now_ns() + kMostWaitNs;
}

std::int64_t Cleaners::wait_ns() const {
  const std::int64_t left = processes_.empty() ? 0 : give_way_at_ - now_ns();
  if (left > 0) return left;
  for (const pid_t process : processes_) give_way(process);
  return 0;
}

void Cleaners::reap() {
  const auto done = std::remove_if(processes_.begin(), processes_.end(),
                                   [](pid_t process) { return waitpid(process, nullptr, WNOHANG) != 0; });
  processes_.erase(done, processes_.end());
}

}  // namespace ferry::device
