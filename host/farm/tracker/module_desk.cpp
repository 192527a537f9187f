#include "host/farm/tracker/module_desk.h"

#include <type_traits>

#include "host/farm/tracker/frame_answer.h"

namespace ferry::farm {
namespace {

template <class Request>
constexpr bool kOnlyReads = std::is_same_v<Request, wire::FindObjects> || std::is_same_v<Request, wire::GetObject> ||
                            std::is_same_v<Request, wire::ListBaseline> ||
                            std::is_same_v<Request, wire::ListBaselines> || std::is_same_v<Request, wire::ListVerdicts>;

// Notes in the audit log who has set which baseline, once for each connection and baseline.
void audit_baseline(Core& core, ConnectionNumber from, const Caller& caller, const std::string& baseline) {
  const auto client = core.clients.find(from);
  if (client == core.clients.end() || client->second.audited_baseline == baseline) return;
  client->second.audited_baseline = baseline;
  core.audit(caller, "set baseline", std::nullopt, baseline, [](const Status&) {});
}

template <class Request>
Status ask_modules(Core& core, ConnectionNumber from, const rpc::FrameHeader& header,
                   std::span<const std::uint8_t> body) {
  using Reply = typename wire::MessageOf<Request>::Reply;
  return decode_and_answer<Request>(
      core, from, header, body, [&](const Caller& caller, const Request& request, const auto& then) {
        if (!kOnlyReads<Request> && caller.role == wire::Role::viewer) {
          return then(Status(ErrorCode::unauthenticated, "this key is for viewers, who may not store modules"));
        }
        if (!core.modules) return then(Status(ErrorCode::unsupported, "this farm keeps no modules"));
        std::string baseline;
        if constexpr (std::is_same_v<Request, wire::SetBaseline>) baseline = request.suite + " " + request.name;
        core.modules->ask(from, request, [&core, from, caller, baseline, then](const Result<Reply>& reply) {
          if constexpr (std::is_same_v<Request, wire::SetBaseline>) {
            if (reply.is_ok() && reply.value().missing.empty() && !reply.value().is_older)
              audit_baseline(core, from, caller, baseline);
          }
          then(reply);
        });
      });
}

}  // namespace

Status answer_modules(Core& core, ConnectionNumber from, const rpc::FrameHeader& header,
                      std::span<const std::uint8_t> body) {
  switch (static_cast<wire::Tag>(header.tag)) {
#define FERRY_CASE(tag, request, reply, name, directions) \
  case wire::Tag::request: return ask_modules<wire::request>(core, from, header, body);
    FERRY_FARM_MODULE_REQUESTS(FERRY_CASE)
#undef FERRY_CASE
    default: break;
  }
  return {ErrorCode::protocol_error, "expected a request about modules"};
}

}  // namespace ferry::farm
