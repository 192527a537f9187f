#include "farm/tracker/query_service.h"

#include "base/format.h"
#include "farm/tracker/frame_answer.h"
#include "farm/tracker/module_service.h"
#include "farm/tracker/relay_connections.h"
#include "rpc/wire/connection.h"

namespace ferry::farm {
namespace {

template <class Query>
Status ask_farm(Core& core, ConnectionNumber from, const rpc::FrameHeader& header, std::span<const std::uint8_t> body) {
  return decode_and_answer<Query>(
      core, from, header, body,
      [&](const Caller& caller, const Query& query, const auto& then) { answer(core, caller, query, then); });
}

}  // namespace

Status answer_frame(Core& core, ConnectionNumber from, const rpc::FrameHeader& header,
                    std::span<const std::uint8_t> body) {
  if (!core.clients.contains(from)) return {ErrorCode::protocol_error, "expected hello before a query"};
  switch (static_cast<wire::Tag>(header.tag)) {
#define FERRY_CASE(tag, request, reply, name, directions) \
  case wire::Tag::request: return ask_farm<wire::request>(core, from, header, body);
    FERRY_FARM_QUERIES(FERRY_CASE)
#undef FERRY_CASE
#define FERRY_CASE(tag, request, reply, name, directions) case wire::Tag::request:
    FERRY_FARM_MODULE_REQUESTS(FERRY_CASE)
#undef FERRY_CASE
    return answer_modules(core, from, header, body);
    case wire::Tag::UseRelay: return offer_relay(core, from, header, body);
    default: break;
  }
  const Status unknown(ErrorCode::unsupported, format("this tracker does not know request %u", header.tag));
  core.peers.send_frame(from, rpc::failure_frame(header.tag, header.request, unknown));
  return {};
}

}  // namespace ferry::farm
