// Memory that detects accesses out of bounds: inaccessible pages surround it, and a pattern fills the unused parts of
// its first and last page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ferry::fuzz {

class GuardedMemory {
 public:
  // The data is 64-byte aligned and ends as close to the guard page behind it as that allows; it is filled with `fill`.
  GuardedMemory(std::size_t bytes, std::uint8_t fill);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::uint8_t* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  // Returns false if the pattern beside the data was overwritten.
  bool is_intact() const;

 private:
  std::uint8_t* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::uint8_t* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace ferry::fuzz
