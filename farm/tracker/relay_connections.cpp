#include "farm/tracker/relay_connections.h"

#include <utility>

#include "base/format.h"
#include "farm/tracker/foreign_ids.h"
#include "rpc/wire/connection.h"

namespace ferry::farm {
namespace {

// For each board of a lease: that of its session, and one that has not ended yet.
constexpr std::size_t kRelaysOfBoard = 2;

// The token of a relay to this board, which the board has been told.
Result<std::uint64_t> open_relay(Core& core, const Caller& caller, const wire::UseRelay& message) {
  if (!core.relay) return Status(ErrorCode::unsupported, "this tracker relays nothing");
  audit_if_foreign(core, caller, "relay", message.lease);
  const auto lease = core.scheduler->machine().find_request(LeaseId{message.lease});
  // A viewer may share the name of a lease's holder.
  if (!lease || lease->request->holder != caller.holder || caller.role == wire::Role::viewer || !lease->is_granted ||
      message.slot >= lease->parts.size())
    return Status(ErrorCode::not_found, "the client has no such board");
  const auto relays = core.relay->leases();
  const auto own = relays.find(message.lease);
  if (own != relays.end() && own->second >= kRelaysOfBoard * lease->parts.size())
    return Status(ErrorCode::busy, format("this lease has %zu relays already", own->second));
  const auto board = core.scheduler->machine().find_board(lease->parts[message.slot].board);
  if (!board || !board->connection) return Status(ErrorCode::unavailable, "the board is not connected");
  FERRY_ASSIGN(const std::uint64_t token, core.relay_tokens.open(message.lease, std::chrono::steady_clock::now()));
  core.peers.send(static_cast<ConnectionNumber>(*board->connection), wire::OpenRelay{token});
  return token;
}

bool has_boards(const Core& core, std::uint64_t lease) {
  const auto request = core.scheduler->machine().find_request(LeaseId{lease});
  return request && !request->parts.empty();
}

}  // namespace

Status offer_relay(Core& core, ConnectionNumber from, const rpc::FrameHeader& header,
                   std::span<const std::uint8_t> body) {
  FERRY_ASSIGN(const wire::UseRelay message, wire::decode<wire::UseRelay>(body));
  const Result<std::uint64_t> token = open_relay(core, core.clients.at(from).caller, message);
  core.peers.send_frame(from, token.is_ok() ? wire::response_frame(header, wire::RelayOffered{token.value()})
                                            : rpc::failure_frame(header.tag, header.request, token.status()));
  return {};
}

void accept_relay_end(Core& core, Descriptor socket, const rpc::RelayTicket& ticket) {
  auto ends = core.relay_tokens.arrive(ticket, std::move(socket), std::chrono::steady_clock::now());
  if (!ends || !core.relay) return;
  const Status added = core.relay->add(ends->lease, std::move(ends->client), std::move(ends->board));
  if (!added.is_ok()) core.log("a relay: " + added.message());
}

void expire_relays(Core& core) {
  core.relay_tokens.expire(std::chrono::steady_clock::now());
  if (!core.relay) return;
  std::set<std::uint64_t> over;
  for (const auto& [lease, relays] : core.relay->leases()) {
    if (has_boards(core, lease)) continue;
    if (core.leases_over.contains(lease)) core.relay->end(lease);
    over.insert(lease);
  }
  core.leases_over = std::move(over);
}

}  // namespace ferry::farm
