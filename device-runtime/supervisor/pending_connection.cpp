#include "device-runtime/supervisor/pending_connection.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace ferry::device {
namespace {

constexpr std::size_t kMaxStrangers = 512;
constexpr std::size_t kMaxFarewells = 256;
constexpr std::size_t kFewest = 8;
// What the server itself needs, and files that it reads in between.
constexpr std::size_t kOwnDescriptors = 64;

// The limit afterwards.
std::size_t allow_descriptors(rlim_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  return static_cast<std::size_t>(std::min(limit.rlim_cur, wanted));
}

}  // namespace

void PendingConnections::add(std::weak_ptr<PendingConnection> connection) {
  std::erase_if(connections_, [](const auto& each) { return each.expired(); });
  while (connections_.size() >= most_) {
    const auto oldest = connections_.front().lock();
    connections_.pop_front();
    if (oldest) oldest->abandon();
  }
  connections_.push_back(std::move(connection));
}

ConnectionPlaces find_connection_places(std::size_t served) {
  const std::size_t others = kOwnDescriptors + served;
  const std::size_t allowed = allow_descriptors(others + kMaxStrangers + kMaxFarewells);
  const std::size_t left = allowed > others ? allowed - others : 0;
  return {std::clamp(left * 2 / 3, kFewest, kMaxStrangers), std::clamp(left / 3, kFewest, kMaxFarewells)};
}

}  // namespace ferry::device
