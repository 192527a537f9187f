// Limits the bytes that a session may hold: tensors, workspaces and code together, or its share of a GPU's memory.
#pragma once

#include <cstdint>
#include <utility>

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
  // Sets what take() calls before it refuses: it may give back what is only kept to save time.
  void set_reclaim(void (*reclaim)(void* context), void* context) {
    reclaim_ = reclaim;
    context_ = context;
  }
  void give_back(std::uint64_t bytes) { used_ -= bytes; }

  std::uint64_t used() const { return used_; }
  std::uint64_t limit() const { return limit_; }

 private:
  std::uint64_t limit_;
  const char* name_;
  const char* hint_;
  std::uint64_t used_ = 0;
  void (*reclaim_)(void*) = nullptr;
  void* context_ = nullptr;
};

// Bytes that are taken from a budget, which must outlive it, for as long as it exists.
class MemoryCharge {
 public:
  static Result<MemoryCharge> take(MemoryBudget& budget, std::uint64_t bytes) {
    FERRY_TRY(budget.take(bytes));
    return MemoryCharge(budget, bytes);
  }
  MemoryCharge(MemoryCharge&& other) noexcept : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&&) = delete;
  ~MemoryCharge() { budget_->give_back(bytes_); }

 private:
  MemoryCharge(MemoryBudget& budget, std::uint64_t bytes) : budget_(&budget), bytes_(bytes) {}

  MemoryBudget* budget_;
  std::uint64_t bytes_;
};

}  // namespace ferry::device
