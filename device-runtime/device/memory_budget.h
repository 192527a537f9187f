// How many bytes a session may hold: tensors, workspaces and code together.
#pragma once

#include <cstdint>

#include "rpc/base/status.h"

namespace ferry::device {

class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t limit) : limit_(limit) {}

  // resource_exhausted names what was asked for, what is in use and the limit; nothing is taken then.
  Status take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { used_ -= bytes; }

  std::uint64_t used() const { return used_; }
  std::uint64_t limit() const { return limit_; }

 private:
  std::uint64_t limit_;
  std::uint64_t used_ = 0;
};

}  // namespace ferry::device
