#include "host/gate/store/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/printable.h"
#include "host/gate/store/store.h"
#include "host/gate/store/store_file.h"

namespace ferry::gate {

namespace {

// Whether the path still names this file, and nobody deleted the file while this process waited for it.
bool is_named(const Descriptor& file, const std::string& path) {
  struct stat opened{}, named{};
  return fstat(file.number(), &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

}  // namespace

Descriptor StoreLock::share() const { return acquire(LOCK_SH); }
Descriptor StoreLock::hold_alone() const { return acquire(LOCK_EX); }

Descriptor StoreLock::acquire(int operation) const {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + wait_;
  std::chrono::milliseconds pause{1};
  while (true) {
    std::optional<StoreFile> lock = open_store_file(path_, O_RDWR | O_CREAT);
    if (lock) {
      if (flock(lock->file.number(), operation | LOCK_NB) == 0) {
        if (is_named(lock->file, path_)) return std::move(lock->file);
      } else if (errno != EWOULDBLOCK && errno != EINTR) {
        fail_to("lock", path_);
      }
    }
    // Trying again instead of waiting in flock() bounds the time, also where a server has forgotten to unlock.
    if (Clock::now() >= end) {
      throw StoreFailed("cannot lock " + printable(path_) + ": another process has held it for " +
                        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(wait_).count()) + " s");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds{16});
  }
}

std::chrono::nanoseconds StoreLock::time(const Descriptor& held) const {
  struct stat info{};
  if (futimens(held.number(), nullptr) != 0 || fstat(held.number(), &info) != 0) fail_to("write", path_);
  return std::chrono::seconds{info.st_mtim.tv_sec} + std::chrono::nanoseconds{info.st_mtim.tv_nsec};
}

}  // namespace ferry::gate
