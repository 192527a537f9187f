#include "farm/tracker/query_service.h"

#include "base/format.h"
#include "farm/tracker/frame_answer.h"
#include "rpc/wire/connection.h"

namespace ferry::farm {
namespace {

template <class Query>
Status ask_farm(QueryService& queries, ClientConnections& clients, Peers& peers, ConnectionNumber from,
                const rpc::FrameHeader& header, std::span<const std::uint8_t> body) {
  return decode_and_answer<Query>(
      clients, peers, from, header, body,
      [&](const Caller& caller, const Query& query, const auto& then) { queries.answer(caller, query, then); });
}

}  // namespace

Status QueryService::answer_frame(ConnectionNumber from, const rpc::FrameHeader& header,
                                  std::span<const std::uint8_t> body) {
  if (clients_.find(from) == nullptr) return {ErrorCode::protocol_error, "expected hello before a query"};
  switch (static_cast<wire::Tag>(header.tag)) {
#define FERRY_CASE(tag, request, reply, name, directions) \
  case wire::Tag::request: return ask_farm<wire::request>(*this, clients_, peers_, from, header, body);
    FERRY_FARM_QUERIES(FERRY_CASE)
#undef FERRY_CASE
#define FERRY_CASE(tag, request, reply, name, directions) case wire::Tag::request:
    FERRY_FARM_MODULE_REQUESTS(FERRY_CASE)
#undef FERRY_CASE
    return modules_.answer_frame(from, header, body);
    case wire::Tag::UseRelay: return offer_relay(from, header, body);
    default: break;
  }
  const Status unknown(ErrorCode::unsupported, format("this tracker does not know request %u", header.tag));
  peers_.send_frame(from, rpc::failure_frame(header.tag, header.request, unknown));
  return {};
}

Status QueryService::offer_relay(ConnectionNumber from, const rpc::FrameHeader& header,
                                 std::span<const std::uint8_t> body) {
  FERRY_ASSIGN(const wire::UseRelay message, wire::decode<wire::UseRelay>(body));
  const Result<std::uint64_t> token = relays_.offer(clients_.find(from)->caller, message);
  peers_.send_frame(from, token.is_ok() ? wire::response_frame(header, wire::RelayOffered{token.value()})
                                        : rpc::failure_frame(header.tag, header.request, token.status()));
  return {};
}

}  // namespace ferry::farm
