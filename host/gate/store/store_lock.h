// The lock of a store that several processes use. Those that add or use objects share it for a moment; those that
// delete objects or write baselines and history hold it alone. It ends with the process that holds it.
#pragma once

#include <chrono>
#include <string>

#include "base/descriptor.h"

namespace ferry::gate {

class StoreLock {
 public:
  // Waiting longer than `wait` for other processes throws StoreFailed.
  StoreLock(std::string path, std::chrono::milliseconds wait) : path_(std::move(path)), wait_(wait) {}

  // The lock is held until the descriptor is closed.
  Descriptor share() const;
  Descriptor hold_alone() const;

  // Returns the file system's time, which dates the objects. Another machine's clock may differ from this one's.
  std::chrono::nanoseconds time(const Descriptor& held) const;

 private:
  Descriptor acquire(int operation) const;

  std::string path_;
  std::chrono::milliseconds wait_;
};

}  // namespace ferry::gate
