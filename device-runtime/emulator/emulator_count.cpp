#include "device-runtime/emulator/emulator_count.h"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device-runtime/emulator/count_request.h"

namespace ferry::device {

EmulatorCount::~EmulatorCount() {
  if (file_ >= 0) close(file_);
}

bool EmulatorCount::open() {
  if (file_ < 0) file_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return read() != 0;
}

std::uint64_t EmulatorCount::read() const {
  std::uint64_t count = 0;
  syscall(SYS_perf_event_open, kCountRequest, file_, kCountRequest, -1, kCountRequest);
  return ::read(file_, &count, sizeof count) == sizeof count ? count : 0;
}

}  // namespace ferry::device
