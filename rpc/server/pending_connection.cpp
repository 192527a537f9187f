#include "rpc/server/pending_connection.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace ferry::server {
namespace {

constexpr std::size_t kMaxUnadmitted = 512;
constexpr std::size_t kMaxFinalFrames = 256;
constexpr std::size_t kFewest = 8;
// For the server itself and the files that it reads temporarily.
constexpr std::size_t kOwnDescriptors = 64;

// Raises the limit of descriptors and returns the limit in effect.
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
  std::size_t open = 0;
  for (auto& each : connections_) {
    if (!each.expired()) connections_[open++].swap(each);
  }
  const std::size_t too_many = open < most_ ? 0 : open - most_ + 1;
  for (std::size_t i = 0; i < too_many; ++i) {
    if (const auto oldest = connections_[i].lock()) oldest->abandon();
  }
  for (std::size_t i = too_many; i < open; ++i) connections_[i - too_many].swap(connections_[i]);
  connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(open - too_many), connections_.end());
  connections_.push_back(std::move(connection));
}

void PendingConnections::abandon_all() {
  for (const auto& each : std::exchange(connections_, {})) {
    if (const auto connection = each.lock()) connection->abandon();
  }
}

ConnectionPlaces find_connection_places(std::size_t sessions, std::size_t waiting) {
  const std::size_t others = kOwnDescriptors + 2 * sessions + waiting;
  const std::size_t allowed = allow_descriptors(others + kMaxUnadmitted + kMaxFinalFrames);
  const std::size_t left = allowed > others ? allowed - others : 0;
  return {std::clamp(left * 2 / 3, kFewest, kMaxUnadmitted), std::clamp(left / 3, kFewest, kMaxFinalFrames)};
}

}  // namespace ferry::server
