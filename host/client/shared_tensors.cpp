#include "host/client/shared_tensors.h"

#include <algorithm>
#include <utility>

namespace ferry::session {

namespace {

// Smaller tensors take less time over the connection than a mapping does.
constexpr std::uint64_t kLeastShared = 128 << 10;
// The server shares tensors that take this part of its memory limit with what it measures.
constexpr std::uint64_t kLargeShare = 8;
// Number of bytes that are kept for tensors to come: new pages and mappings take longer than what is written to them.
constexpr std::uint64_t kMostKept = 512 << 20;
constexpr std::uint64_t kKeptShare = 16;  // kept buffers take this part of the memory limit at most

}  // namespace

SharedTensors::SharedTensors(std::unique_ptr<SharedObject> object) : object_(std::move(object)) {
  unused_[object_->begin()] = object_->end() - object_->begin();
}

std::optional<SharedTensors::Part> SharedTensors::take_kept(std::uint64_t bytes) {
  const auto alike = std::find_if(kept_.rbegin(), kept_.rend(), [&](const Part& one) { return one.bytes == bytes; });
  if (alike == kept_.rend()) return std::nullopt;
  const Part part = *alike;
  kept_.erase(std::next(alike).base());
  kept_bytes_ -= bytes;
  return part;
}

std::optional<SharedTensors::Part> SharedTensors::take_unused(std::uint64_t bytes) {
  const auto place = std::ranges::find_if(unused_, [&](const auto& one) { return one.second >= bytes; });
  if (place == unused_.end()) return std::nullopt;
  const Part part{Client::new_handle(), place->first, bytes};
  if (place->second > bytes) unused_[place->first + bytes] = place->second - bytes;
  unused_.erase(place);
  return part;
}

void SharedTensors::discard(const Part& part) {
  object_->discard(part.offset, part.bytes);
  auto place = unused_.insert({part.offset, part.bytes}).first;
  const auto join_next = [&](auto first) {
    const auto next = std::next(first);
    if (next == unused_.end() || first->first + first->second != next->first) return;
    first->second += next->second;
    unused_.erase(next);
  };
  join_next(place);
  if (place != unused_.begin()) join_next(std::prev(place));
}

void SharedTensors::keep(const Part& part) {
  kept_.push_back({part.buffer, part.offset, part.bytes, false});
  kept_bytes_ += part.bytes;
}

void SharedTensors::free_in_session(Client& client, const Part& part) {
  freed_.push_back({part, client.send(rpc::Free{part.buffer}).answer()});
}

void SharedTensors::collect_dropped(Client& client, std::uint64_t most_kept) {
  const auto has_arrived = [](const Dropped& one) { return one.answer == nullptr || one.answer->arrived; };
  std::erase_if(freed_, [&](const Dropped& one) {
    if (has_arrived(one)) discard(one.part);
    return has_arrived(one);
  });
  std::erase_if(dropped_, [&](const Dropped& one) {
    if (has_arrived(one)) keep(one.part);
    return has_arrived(one);
  });
  while (kept_bytes_ > most_kept) {
    const Part oldest = kept_.front();
    kept_.erase(kept_.begin());
    kept_bytes_ -= oldest.bytes;
    free_in_session(client, oldest);
  }
}

std::optional<SharedTensors::Part> SharedTensors::allocate(Client& client, std::uint64_t bytes) {
  const std::uint64_t limit = client.facts().memory_limit_bytes;
  if (!is_served_.value_or(true) || bytes < kLeastShared) return std::nullopt;
  const bool is_large = bytes >= limit / kLargeShare;  // and may need what is kept
  collect_dropped(client, is_large ? 0 : std::min(kMostKept, limit / kKeptShare));
  if (is_large) return std::nullopt;
  const std::uint64_t whole = (bytes + rpc::kSharedUnit - 1) / rpc::kSharedUnit * rpc::kSharedUnit;
  std::optional<Part> part = take_kept(whole);
  const bool is_kept = part.has_value();
  if (!is_kept) part = take_unused(whole);
  if (!part) return std::nullopt;
  part->failures_before = client.failures();
  if (is_kept) return part;
  const rpc::AllocShared request{part->buffer, whole, static_cast<std::uint32_t>(part->offset / rpc::kSharedUnit)};
  if (is_served_) {
    client.post(request);
    return part;
  }
  try {
    client.call(request);
    is_served_ = true;
    return part;
  } catch (const Error& error) {
    // An older server, or one that has no such memory.
    if (error.code() != ErrorCode::unsupported) throw;
    is_served_ = false;
    return std::nullopt;
  }
}

void SharedTensors::free(Client& client, const Part& part) {
  if (!client.is_open()) return discard(part);
  // After a failure, the session may have noted that its contents are missing.
  if (client.failures() != part.failures_before) return free_in_session(client, part);
  dropped_.push_back({part, client.last_outstanding()});
}

}  // namespace ferry::session
