// The loaded code images, registered for debuggers, profilers and the crash handler. The list is global because
// debuggers look it up under a fixed name (gdb's JIT compilation interface) and a signal handler has no argument to
// receive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "ferry/hash.h"

namespace ferry::device {

class LoadedCode {
 public:
  // `file` is the image that has been loaded at [base, base + span).
  LoadedCode(const Hash& module, std::span<const std::uint8_t> file, const std::byte* base, std::uint64_t span);
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;
  ~LoadedCode();

  struct Place {
    Hash module{};  // zeros: in no module
    std::uint64_t offset = 0;
  };
  // Safe to call in signal handlers.
  static Place find(std::uintptr_t address);

  // From now on the functions of loaded images are listed for perf in /tmp/perf-PROCESS.map.
  static void open_perf_map();

 private:
  struct Entry;
  std::unique_ptr<Entry> entry_;
};

}  // namespace ferry::device
