// The exact number of instructions that this process has executed, where an emulator with ferry's plugin runs it.
#pragma once

#include <cstdint>

namespace ferry::device {

class EmulatorCount {
 public:
  EmulatorCount() = default;
  EmulatorCount(const EmulatorCount&) = delete;
  EmulatorCount& operator=(const EmulatorCount&) = delete;
  ~EmulatorCount();

  // Returns whether an emulator counts.
  bool open();
  // Returns the instructions of all threads since the process began (a forked one includes those of its parents), up to
  // a fixed place in this function; 0 unless open() has returned true. Takes the same number of instructions each time.
  std::uint64_t read() const;

 private:
  int file_ = -1;  // an eventfd
};

}  // namespace ferry::device
