// The end of what kernels printed, in memory that outlives the process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>

namespace ferry::device {

struct PrintTail {
  char text[1024];
  std::atomic<std::size_t> written{0};  // in total; `text` is a ring buffer that holds the last bytes

  // One thread at a time.
  void append(const char* bytes, std::size_t length) {
    const std::size_t skipped = length - std::min(length, sizeof text), begin = written.load();
    for (std::size_t i = skipped; i < length; ++i) text[(begin + i) % sizeof text] = bytes[i];
    written.store(begin + length);
  }

  // Returns whole lines if there are any.
  std::string last() const {
    const std::size_t end = written.load();
    std::string result;
    for (std::size_t i = end - std::min(end, sizeof text); i < end; ++i) result += text[i % sizeof text];
    const std::size_t first = result.find('\n');
    if (end > sizeof text && first != std::string::npos && first + 1 < result.size()) result.erase(0, first + 1);
    return result;
  }
};

}  // namespace ferry::device
