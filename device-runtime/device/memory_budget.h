// Limits the bytes that a session may hold: tensors, workspaces and code together, or its share of a GPU's memory.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace ferry::device {

class MemoryBudget {
 public:
  // `name` and `hint` appear in the error message and must outlive the budget.
  explicit MemoryBudget(std::uint64_t limit, const char* name = "this session's limit",
                        const char* hint = "rpc_server --memory-limit")
      : limit_(limit), name_(name), hint_(hint) {}

  // resource_exhausted names the requested bytes, those in use and the limit; nothing is taken in that case.
  Status take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { used_ -= bytes; }

  std::uint64_t used() const { return used_; }
  std::uint64_t limit() const { return limit_; }

 private:
  std::uint64_t limit_;
  const char* name_;
  const char* hint_;
  std::uint64_t used_ = 0;
};

}  // namespace ferry::device
