// Moves this process's threads to some of the machine's cores, and back when it is over.
#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

#include "rpc/base/status.h"

namespace ferry::device {

class Pinning {
 public:
  Pinning() = default;
  Pinning(const Pinning&) = delete;
  Pinning& operator=(const Pinning&) = delete;
  ~Pinning();

  // invalid_argument unless this process may use all of them. Without any, threads stay where they are.
  Status move_to(const std::vector<std::uint32_t>& cores);

 private:
  bool moved_ = false;
  cpu_set_t before_{};
};

}  // namespace ferry::device
