#include "device-runtime/measure/pinning.h"

#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "device-runtime/measure/own_threads.h"

namespace ferry::device {
void Pinning::move_all(const cpu_set_t& cores) const {
  sched_setaffinity(0, sizeof cores, &cores);
  // A GPU's driver has threads too. In other sessions these calls are refused, but there are no threads to move except
  // the caller's.
  for (const pid_t thread : own_threads(threads_)) sched_setaffinity(thread, sizeof cores, &cores);
  if (follow_) follow_();
}

Status Pinning::move_to(const std::vector<std::uint32_t>& cores) {
  if (cores.empty()) return {};
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  if (sched_getaffinity(0, sizeof before_, &before_) != 0) {
    return {ErrorCode::unsupported, format("measure: cannot choose cores here: %s", std::strerror(errno))};
  }
  for (const std::uint32_t core : cores) {
    if (core >= CPU_SETSIZE || !CPU_ISSET(core, &before_)) {
      return {ErrorCode::invalid_argument, format("measure: expected cores that this session may use, got %u", core)};
    }
    CPU_SET(core, &wanted);
  }
  moved_ = true;
  move_all(wanted);
  return {};
}

Pinning::~Pinning() {
  if (moved_) move_all(before_);
}

}  // namespace ferry::device
