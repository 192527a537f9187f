#include "farm/relay/relay_tokens.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "rpc/secure/noise.h"

namespace ferry::farm {
namespace {

std::uint64_t draw_token() {
  std::array<std::uint8_t, sizeof(std::uint64_t)> bytes{};
  secure::fill_with_random(bytes);
  return std::bit_cast<std::uint64_t>(bytes);
}

}  // namespace

Result<std::uint64_t> RelayTokens::open(std::uint64_t lease, TimePoint now) {
  expire(now);
  const auto of_lease =
      std::count_if(open_.begin(), open_.end(), [&](const auto& each) { return each.second.ends.lease == lease; });
  if (open_.size() >= kMaxTokens || of_lease >= static_cast<std::ptrdiff_t>(kMaxTokensOfLease))
    return Status(ErrorCode::busy, "too many relays are being opened; try again");
  std::uint64_t token = draw_token();
  while (open_.contains(token)) token = draw_token();
  open_.emplace(token, Opened{now + kValid, {lease, {}, {}}});
  return token;
}

std::optional<RelayTokens::Ends> RelayTokens::arrive(const rpc::RelayTicket& ticket, Descriptor socket, TimePoint now) {
  const auto found = open_.find(ticket.token);
  if (found == open_.end() || found->second.until <= now) return std::nullopt;
  Ends& ends = found->second.ends;
  Descriptor& own = ticket.end == rpc::RelayEnd::client ? ends.client : ends.board;
  if (own.number() >= 0) return std::nullopt;
  own = std::move(socket);
  if (ends.client.number() < 0 || ends.board.number() < 0) return std::nullopt;
  Ends both = std::move(ends);
  open_.erase(found);
  return both;
}

void RelayTokens::expire(TimePoint now) {
  std::erase_if(open_, [&](const auto& each) { return each.second.until <= now; });
}

}  // namespace ferry::farm
