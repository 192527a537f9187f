// Moves this process's threads to some of the machine's cores, and back when it is over.
#pragma once

#include <sched.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "rpc/base/status.h"

namespace ferry::device {

class Pinning {
 public:
  // A thread may move itself alone where sessions are confined: after the caller has moved, `follow` is called to bring
  // those along that work for it.
  explicit Pinning(std::function<void()> follow = {}) : follow_(std::move(follow)) {}
  Pinning(const Pinning&) = delete;
  Pinning& operator=(const Pinning&) = delete;
  ~Pinning();

  // invalid_argument unless this process may use all of them. Without any, threads stay where they are.
  Status move_to(const std::vector<std::uint32_t>& cores);

 private:
  void move_all(const cpu_set_t& cores) const;

  std::function<void()> follow_;
  bool moved_ = false;
  cpu_set_t before_{};
};

}  // namespace ferry::device
