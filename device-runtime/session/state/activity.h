// The current activity of a session, in memory shared with the supervisor, which needs it after a crash. Kernels can
// overwrite this memory, so other processes must read it through supervisor/seen_activity.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "device-runtime/device/print_tail.h"
#include "device-runtime/loader/crash_record.h"
#include "rpc/secure/record.h"

namespace ferry::device {

// What a session says that its last evaluation has measured so far.
struct MeasuredTime {
  std::uint64_t evaluation = 0;  // its request id
  std::uint64_t samples = 0;
  std::int64_t total_ns = 0;  // includes the emptying of caches between samples
  std::int64_t ended_ns = 0;  // when the last sample ended
};

// Memory that one process writes and another reads without waiting for each other.
class PublishedTime {
 public:
  void set(const MeasuredTime& time) {
    version_.fetch_add(1);  // odd: it is being written
    evaluation_.store(time.evaluation);
    samples_.store(time.samples);
    total_ns_.store(time.total_ns);
    ended_ns_.store(time.ended_ns);
    version_.fetch_add(1);
  }
  // Nothing if it is being written.
  std::optional<MeasuredTime> get() const {
    const std::uint64_t version = version_.load();
    const MeasuredTime time{evaluation_.load(), samples_.load(), total_ns_.load(), ended_ns_.load()};
    if (version % 2 != 0 || version_.load() != version) return std::nullopt;
    return time;
  }

 private:
  std::atomic<std::uint64_t> version_{0}, evaluation_{0}, samples_{0};
  std::atomic<std::int64_t> total_ns_{0}, ended_ns_{0};
};

struct Activity {
  // Marks at both ends, so that an overwrite of the whole structure with one repeated value is detected.
  static constexpr std::uint64_t kMark = 0x9e3779b97f4a7c15;

  std::atomic<std::uint64_t> begin_mark{kMark};
  std::atomic<std::uint64_t> request{0};  // id of the request in progress; 0: none
  std::atomic<std::int64_t> started_ns{0};
  std::atomic<std::uint16_t> tag{0};
  std::atomic<std::uint8_t> in_kernel{0};  // 0 or 1
  std::atomic<std::uint8_t> sending{0};    // 1: in the middle of a frame, so no other frame may be sent
  secure::PublishedCount sealed;           // number of sealed records of an encrypted connection
  PublishedTime measured;
  Crash crash;  // the signal that ended the session
  PrintTail printed;
  char function[256] = {};  // null-terminated; valid while in_kernel is set
  std::atomic<std::uint64_t> end_mark{kMark};

  void begin_kernel(std::string_view name) {
    const std::size_t length = name.size() < sizeof function ? name.size() : sizeof function - 1;
    std::memcpy(function, name.data(), length);
    function[length] = 0;
    in_kernel.store(1);
  }
  void end_kernel() { in_kernel.store(0); }
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes cannot share a lock that is not there");

}  // namespace ferry::device
