#include "device-runtime/device/memory_budget.h"

#include "base/format.h"

namespace ferry::device {

Status MemoryBudget::take(std::uint64_t bytes) {
  if (bytes > limit_ - used_ && reclaim_ != nullptr) reclaim_(context_);
  if (bytes > limit_ - used_) {
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    return {ErrorCode::resource_exhausted,
            format("expected at most %llu bytes, got %llu: %llu of %s of "
                   "%llu are in use (%s)",
                   number(limit_ - used_), number(bytes), number(used_), name_, number(limit_), hint_)};
  }
  used_ += bytes;
  return {};
}

}  // namespace ferry::device
