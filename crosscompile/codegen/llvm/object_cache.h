// Objects that were compiled before, by everything that they depend on. Points of a search differ in the code that
// calls run, and share few init functions, which may take as long to compile.
#pragma once

#include "ferry/hash.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace ferry::codegen {

// Threads may call the methods at the same time.
class ObjectCache {
 public:
  using Object = std::vector<std::uint8_t>;

  std::optional<Object> find(const Hash& key) {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, object] : objects_)
      if (known == key) return object;
    return std::nullopt;
  }

  // Drops the oldest one where there are too many.
  void add(const Hash& key, Object object) {
    const std::lock_guard lock(mutex_);
    objects_.emplace_back(key, std::move(object));
    if (objects_.size() > kMost) objects_.pop_front();
  }

 private:
  static constexpr std::size_t kMost = 32;

  std::mutex mutex_;
  std::deque<std::pair<Hash, Object>> objects_;
};

}  // namespace ferry::codegen
