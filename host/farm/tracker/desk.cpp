#include "host/farm/tracker/desk.h"

#include "base/format.h"
#include "host/farm/tracker/relay_door.h"
#include "rpc/wire/connection.h"

namespace ferry::farm {
namespace {

// Each waits for the database, and for memory until its answer is sent.
constexpr std::size_t kMaxQueries = 16;

template <class Query>
Status decode_and_answer(Core& core, ConnectionNumber from, const rpc::FrameHeader& header,
                         std::span<const std::uint8_t> body) {
  using Reply = typename wire::MessageOf<Query>::Reply;
  ConnectedClient& client = core.clients.at(from);
  const auto fail = [&](const Status& why) {
    core.peers.send_frame(from, rpc::failure_frame(header.tag, header.request, why));
  };
  const Result<Query> query = wire::decode<Query>(body);
  if (!query.is_ok()) return query.status();
  if (client.queries >= kMaxQueries) {
    fail({ErrorCode::busy, format("%zu requests of this client wait already", kMaxQueries)});
    return {};
  }
  ++client.queries;
  answer(core, Caller(client.caller), query.value(), [&core, from, header](const Result<Reply>& reply) {
    const auto found = core.clients.find(from);
    if (found == core.clients.end()) return;
    --found->second.queries;
    core.peers.send_frame(from, reply.is_ok() ? wire::response_frame(header, reply.value())
                                              : rpc::failure_frame(header.tag, header.request, reply.status()));
  });
  return {};
}

}  // namespace

Status answer_frame(Core& core, ConnectionNumber from, const rpc::FrameHeader& header,
                    std::span<const std::uint8_t> body) {
  if (!core.clients.contains(from)) return {ErrorCode::protocol_error, "expected hello before a query"};
  switch (static_cast<wire::Tag>(header.tag)) {
#define FERRY_CASE(tag, request, reply, name, directions) \
  case wire::Tag::request: return decode_and_answer<wire::request>(core, from, header, body);
    FERRY_FARM_QUERIES(FERRY_CASE)
#undef FERRY_CASE
    case wire::Tag::UseRelay: return offer_relay(core, from, header, body);
    default: break;
  }
  const Status unknown(ErrorCode::unsupported, format("this tracker does not know request %u", header.tag));
  core.peers.send_frame(from, rpc::failure_frame(header.tag, header.request, unknown));
  return {};
}

}  // namespace ferry::farm
