// A limited number of places, of which each event stream takes one.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace ferry::farm::http {

class Places {
 public:
  explicit Places(std::size_t count) : free_(std::make_shared<std::atomic<std::ptrdiff_t>>(count)) {}

  // Returns null if all are taken. The place is free again when the last copy of the pointer is gone. Any thread.
  std::shared_ptr<void> take() {
    if (free_->fetch_sub(1) > 0) {
      return std::shared_ptr<void>(free_.get(), [free = free_](void*) { free->fetch_add(1); });
    }
    free_->fetch_add(1);
    return nullptr;
  }

 private:
  std::shared_ptr<std::atomic<std::ptrdiff_t>> free_;
};

}  // namespace ferry::farm::http
