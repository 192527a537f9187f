// How many bytes a session may hold: tensors, workspaces and code together, or what it holds of a GPU's own memory.
#pragma once

#include <cstdint>

#include "rpc/base/status.h"

namespace ferry::device {

class MemoryBudget {
 public:
  // `name` and `hint` are for the sentence of a refusal, and must stay.
  explicit MemoryBudget(std::uint64_t limit, const char* name = "this session's limit",
                        const char* hint = "rpc_server --memory-limit")
      : limit_(limit), name_(name), hint_(hint) {}

  // resource_exhausted names what was asked for, what is in use and the limit; nothing is taken then.
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
