#include "device-runtime/measure/counters.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

namespace ferry::device {
namespace {

constexpr std::uint64_t kEvents[kCounterKinds] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
                                                  PERF_COUNT_HW_CACHE_MISSES};

int open_counter(std::uint64_t event) {
  perf_event_attr wanted;
  std::memset(&wanted, 0, sizeof wanted);
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = event;
  wanted.disabled = 1;
  wanted.inherit = 1;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

Counters::~Counters() {
  for (const Open& counter : open_) close(counter.file);
}

void Counters::open() {
  int error = 0;
  for (std::uint8_t kind = 0; kind < kCounterKinds; ++kind) {
    const int file = open_counter(kEvents[kind]);
    if (file >= 0) open_.push_back({file, static_cast<CounterKind>(kind)});
    if (file < 0 && error == 0) error = errno;
  }
  if (!open_.empty()) return;
  is_emulated_ = emulator_.open();
  if (!is_emulated_) error_ = error != 0 ? error : ENOENT;
}

void Counters::control(unsigned long request) const {
  for (const Open& counter : open_) ioctl(counter.file, request, 0);
}

void Counters::start() {
  control(PERF_EVENT_IOC_ENABLE);
  if (is_emulated_) begin_ = emulator_.read();
}

void Counters::stop() {
  if (is_emulated_) emulated_ += emulator_.read() - begin_;
  control(PERF_EVENT_IOC_DISABLE);
}

Counts Counters::read() const {
  Counts totals;
  totals.fill(NAN);
  for (const Open& counter : open_) {
    struct {
      std::uint64_t value, enabled, running;
    } counted{};
    if (::read(counter.file, &counted, sizeof counted) != sizeof counted) continue;
    double& total = totals[counter.kind];
    if (std::isnan(total)) total = 0;
    if (counted.running == 0) continue;
    total += static_cast<double>(counted.value) * static_cast<double>(counted.enabled) /
             static_cast<double>(counted.running);
  }
  if (is_emulated_) totals[kInstructions] = static_cast<double>(emulated_);
  return totals;
}

}  // namespace ferry::device
