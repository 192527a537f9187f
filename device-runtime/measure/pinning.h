// Moves this process's threads to a set of cores, and back on destruction.
#pragma once

#include <sched.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/status.h"

namespace ferry::device {

class Pinning {
 public:
  // `threads` is an open /proc/self/task. In a confined session a thread can move only itself: after the calling thread
  // has moved, `follow` is called to move its worker threads.
  explicit Pinning(int threads, std::function<void()> follow = {}) : threads_(threads), follow_(std::move(follow)) {}
  Pinning(const Pinning&) = delete;
  Pinning& operator=(const Pinning&) = delete;
  ~Pinning();

  // Fails with invalid_argument unless this process may use all of the cores. An empty list leaves the threads where
  // they are.
  Status move_to(const std::vector<std::uint32_t>& cores);

 private:
  void move_all(const cpu_set_t& cores) const;

  int threads_;
  std::function<void()> follow_;
  bool moved_ = false;
  cpu_set_t before_{};
};

}  // namespace ferry::device
