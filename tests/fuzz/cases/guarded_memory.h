// Memory that shows when a kernel touches what is not its own: pages without access around it, and a pattern in what is
// left of its first and last page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ferry::fuzz {

class GuardedMemory {
 public:
  // 64-byte aligned, as near to the page behind it as that allows; filled with `fill`.
  GuardedMemory(std::size_t bytes, std::uint8_t fill);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::uint8_t* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  // False when somebody wrote beside it.
  bool is_intact() const;

 private:
  std::uint8_t* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::uint8_t* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace ferry::fuzz
