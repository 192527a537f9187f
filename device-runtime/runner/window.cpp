#include "device-runtime/runner/window.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>

#include <cerrno>
#include <utility>

#include "device-runtime/measure/clock.h"
#include "device-runtime/runner/notify.h"
#include "device-runtime/runner/task.h"

namespace ferry::device {

Windows::Windows(RunnerProcess runner, Descriptor listener, std::uint32_t workers, RunnerPage& page)
    : runner_(std::move(runner)), listener_(std::move(listener)), page_(page), worker_count_(workers) {
  workers_.reserve(workers);
  clock_getcpuclockid(runner_.process, &clock_);
}

std::int64_t Windows::processor_ns() const {
  timespec time{};
  clock_gettime(clock_, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Waits for the next stop of a thread.
bool Windows::receive() {
  while (true) {
    pollfd entries[] = {{listener_.number(), POLLIN, 0}, {runner_.socket.number(), POLLIN, 0}};
    if (poll(entries, 2, -1) < 0) {
      if (errno != EINTR) return false;
      continue;
    }
    stopped_ns_ = now_ns();
    if ((entries[0].revents & POLLIN) == 0) return false;
    seccomp_notif notice{};
    if (ioctl(listener_.number(), SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0) {
      // The thread was interrupted by a signal, and will stop again.
      if (errno == ENOENT || errno == EINTR) continue;
      return false;
    }
    if (static_cast<pid_t>(notice.pid) != runner_.process) {
      workers_.push_back(notice.id);
      return true;
    }
    first_ = notice.id;
    if (static_cast<Notice>(notice.data.args[0]) == Notice::wants_threads) {
      uses_threads_ = true;
      return release_workers() && answer(first_);
    }
    result_ = static_cast<std::int32_t>(notice.data.args[1]);
    return true;
  }
}

bool Windows::answer(std::uint64_t& thread) {
  seccomp_notif_resp response{};
  response.id = std::exchange(thread, 0);
  return ioctl(listener_.number(), SECCOMP_IOCTL_NOTIF_SEND, &response) == 0;
}

bool Windows::release_workers() {
  bool is_answered = true;
  for (std::uint64_t& worker : workers_) is_answered = answer(worker) && is_answered;
  workers_.clear();
  return is_answered;
}

bool Windows::wait() {
  while (first_ == 0 || workers_.size() < worker_count_) {
    if (!receive()) return false;
  }
  return true;
}

bool Windows::begin() {
  if (!wait()) return false;
  processor_end_ns_ = processor_ns();
  return true;
}

bool Windows::open(std::uint64_t calls, Window& window) {
  page_.calls.store(calls);
  page_.runs_threads.store(uses_threads_ ? 1 : 0);
  const std::int64_t processor_begin_ns = processor_ns();
  outside_ns_ += processor_begin_ns - processor_end_ns_;
  const std::int64_t begin_ns = now_ns();
  if (uses_threads_ && !release_workers()) return false;
  if (!answer(first_) || !wait()) return false;
  window.elapsed_ns = stopped_ns_ - begin_ns;
  processor_end_ns_ = processor_ns();
  window.processor_ns = processor_end_ns_ - processor_begin_ns;
  window.result = result_;
  return true;
}

}  // namespace ferry::device
