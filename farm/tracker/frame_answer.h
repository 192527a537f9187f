// How the answer to a request in a frame comes back to the connection.
#pragma once

#include <span>

#include "base/format.h"
#include "farm/tracker/client_connections.h"

namespace ferry::farm {

// Requests of one connection that wait, each for a database, and for memory until its answer is sent.
inline constexpr std::size_t kMaxQueries = 16;

// Decodes the frame's request and calls ask(caller, request, then), which passes the answer on to then() once, on the
// loop, maybe at once. Fails if the frame is none of the protocol. Requires that the connection is a client's, and that
// `clients` and `peers` live when the answer comes.
template <class Query, class Ask>
Status decode_and_answer(ClientConnections& clients, Peers& peers, ConnectionNumber from,
                         const rpc::FrameHeader& header, std::span<const std::uint8_t> body, const Ask& ask) {
  using Reply = typename wire::MessageOf<Query>::Reply;
  ConnectedClient& client = *clients.find(from);
  const auto fail = [&](const Status& why) {
    peers.send_frame(from, rpc::failure_frame(header.tag, header.request, why));
  };
  const Result<Query> query = wire::decode<Query>(body);
  if (!query.is_ok()) return query.status();
  if (client.queries >= kMaxQueries) {
    fail({ErrorCode::busy, format("%zu requests of this client wait already", kMaxQueries)});
    return {};
  }
  ++client.queries;
  ask(Caller(client.caller), query.value(), [&clients, &peers, from, header](const Result<Reply>& reply) {
    ConnectedClient* const asker = clients.find(from);
    if (asker == nullptr) return;
    --asker->queries;
    peers.send_frame(from, reply.is_ok() ? wire::response_frame(header, reply.value())
                                         : rpc::failure_frame(header.tag, header.request, reply.status()));
  });
  return {};
}

}  // namespace ferry::farm
