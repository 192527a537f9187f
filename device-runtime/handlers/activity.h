// What a session is doing right now, in memory that it shares with the supervisor: after a crash nobody else can tell.
// Kernels can write there, by accident or not: whoever reads it from another process does so through
// supervisor/seen_activity.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "device-runtime/device/print_tail.h"
#include "rpc/base/hash.h"
#include "rpc/secure/record.h"

namespace ferry::device {

// Where a signal has ended the session, as its handler saw it.
struct Crash {
  std::atomic<int> taken{0};   // a thread writes, or has written
  std::atomic<int> signal{0};  // the rest is there
  std::uint64_t address = 0;   // that was accessed, or of the instruction
  Hash module{};               // zeros: the code of no module
  std::uint64_t offset = 0;    // in its image
};

struct Activity {
  // At both ends, so that a range of the same bytes that covers all of it shows.
  static constexpr std::uint64_t kMark = 0x9e3779b97f4a7c15;

  std::atomic<std::uint64_t> begin_mark{kMark};
  std::atomic<std::uint64_t> request{0};  // being worked on; 0: none
  std::atomic<std::int64_t> started_ns{0};
  std::atomic<std::uint16_t> tag{0};
  std::atomic<std::uint8_t> in_kernel{0};  // 0 or 1
  std::atomic<std::uint8_t> sending{0};    // 1: inside a frame, nobody else may send another
  secure::PublishedCount sealed;           // records of an encrypted connection
  Crash crash;
  PrintTail printed;
  char function[256] = {};  // ends in a zero; meaningful while in_kernel
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
