// Code images in use, where debuggers, profilers and the handler of crashes find them. Debuggers look for a list under
// a fixed name (gdb's JIT compilation interface), and a handler of signals is given nothing, so the list is global.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "rpc/base/hash.h"

namespace ferry::device {

class LoadedCode {
 public:
  // `file` is the image that now lies at [base, base + span).
  LoadedCode(const Hash& module, std::span<const std::uint8_t> file, const std::byte* base, std::uint64_t span);
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;
  ~LoadedCode();

  struct Place {
    Hash module{};  // zeros: in none
    std::uint64_t offset = 0;
  };
  // From handlers of signals too.
  static Place find(std::uintptr_t address);

  // From now on the functions of what is loaded are listed for perf in /tmp/perf-PROCESS.map.
  static void write_perf_map();

 private:
  struct Entry;
  std::unique_ptr<Entry> entry_;
};

}  // namespace ferry::device
