// What a session is doing right now, in memory that it shares with the supervisor: after a crash nobody else can tell.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ferry::device {

struct Activity {
  std::atomic<std::uint64_t> request{0};  // being worked on; 0: none
  std::atomic<std::int64_t> started_ns{0};
  std::atomic<std::uint16_t> tag{0};
  std::atomic<bool> in_kernel{false};
  std::atomic<bool> sending{false};  // inside a frame: nobody else may send another
  char function[256] = {};           // ends in a zero; meaningful while in_kernel

  void begin_kernel(std::string_view name) {
    const std::size_t length = name.size() < sizeof function ? name.size() : sizeof function - 1;
    std::memcpy(function, name.data(), length);
    function[length] = 0;
    in_kernel.store(true);
  }
  void end_kernel() { in_kernel.store(false); }
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes cannot share a lock that is not there");

}  // namespace ferry::device
