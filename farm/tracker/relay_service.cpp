#include "farm/tracker/relay_service.h"

#include <utility>

#include "base/format.h"

namespace ferry::farm {
namespace {

// For each board of a lease: that of its session, and one that has not ended yet.
constexpr std::size_t kRelaysOfBoard = 2;

}  // namespace

Status RelayService::start(const RelayLimits& limits) {
  FERRY_ASSIGN(relay_, Relay::start(limits));
  return {};
}

void RelayService::stop() {
  if (relay_) relay_->stop();
}

Result<std::uint64_t> RelayService::offer(const Caller& caller, const wire::UseRelay& message) {
  if (!relay_) return Status(ErrorCode::unsupported, "this tracker relays nothing");
  audit_.write_if_foreign(caller, "relay", message.lease);
  const auto lease = scheduler_.machine().find_request(LeaseId{message.lease});
  // A viewer may share the name of a lease's holder.
  if (!lease || lease->request->holder != caller.holder || caller.role == wire::Role::viewer || !lease->is_granted ||
      message.slot >= lease->parts.size())
    return Status(ErrorCode::not_found, "the client has no such board");
  const auto relays = relay_->leases();
  const auto own = relays.find(message.lease);
  if (own != relays.end() && own->second >= kRelaysOfBoard * lease->parts.size())
    return Status(ErrorCode::busy, format("this lease has %zu relays already", own->second));
  const auto board = scheduler_.machine().find_board(lease->parts[message.slot].board);
  if (!board || !board->connection) return Status(ErrorCode::unavailable, "the board is not connected");
  FERRY_ASSIGN(const std::uint64_t token, tokens_.open(message.lease, std::chrono::steady_clock::now()));
  peers_.send(static_cast<ConnectionNumber>(*board->connection), wire::OpenRelay{token});
  return token;
}

bool RelayService::has_boards(std::uint64_t lease) const {
  const auto request = scheduler_.machine().find_request(LeaseId{lease});
  return request && !request->parts.empty();
}

void RelayService::accept_end(Descriptor socket, const rpc::RelayTicket& ticket) {
  auto ends = tokens_.arrive(ticket, std::move(socket), std::chrono::steady_clock::now());
  if (!ends || !relay_) return;
  const Status added = relay_->add(ends->lease, std::move(ends->client), std::move(ends->board));
  if (!added.is_ok()) log_("a relay: " + added.message());
}

void RelayService::expire() {
  tokens_.expire(std::chrono::steady_clock::now());
  if (!relay_) return;
  std::set<std::uint64_t> over;
  for (const auto& [lease, relays] : relay_->leases()) {
    if (has_boards(lease)) continue;
    if (leases_over_.contains(lease)) relay_->end(lease);
    over.insert(lease);
  }
  leases_over_ = std::move(over);
}

}  // namespace ferry::farm
