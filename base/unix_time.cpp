#include "base/unix_time.h"

#include <chrono>

namespace ferry {

std::int64_t unix_milliseconds() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()).time_since_epoch().count();
}

}  // namespace ferry
