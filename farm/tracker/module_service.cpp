#include "farm/tracker/module_service.h"

#include <type_traits>

#include "farm/tracker/frame_answer.h"

namespace ferry::farm {
namespace {

template <class Request>
constexpr bool kOnlyReads = std::is_same_v<Request, wire::FindObjects> || std::is_same_v<Request, wire::GetObject> ||
                            std::is_same_v<Request, wire::ListBaseline> ||
                            std::is_same_v<Request, wire::ListBaselines> || std::is_same_v<Request, wire::ListVerdicts>;

template <class Request>
constexpr bool kChangesBaseline =
    std::is_same_v<Request, wire::SetBaseline> || std::is_same_v<Request, wire::DeleteBaseline> ||
    std::is_same_v<Request, wire::DeleteCases>;

template <class Request>
std::string name_of(const Request& request) {
  return request.suite + " " + request.name;
}

bool transfers_nothing(const Core& core, ConnectionNumber connection) {
  const auto client = core.clients.find(connection);
  return client == core.clients.end() ||
         (client->second.queries == 0 && !client->second.sends_object && core.peers.queued(connection) == 0);
}

// Takes the request's share of what its key may use. Fails with busy if there is none.
template <class Request>
Status take_share(Core& core, ConnectionNumber from, const secure::KeyId& key, const Request& request) {
  if constexpr (std::is_same_v<Request, wire::PutObject> || std::is_same_v<Request, wire::GetObject>) {
    FERRY_TRY(core.module_shares.begin_transfer(
        key, from, [&](ConnectionNumber connection) { return transfers_nothing(core, connection); }));
  }
  if constexpr (std::is_same_v<Request, wire::SetBaseline> || std::is_same_v<Request, wire::DeleteCases>) {
    if (core.clients.at(from).audited_baseline != name_of(request)) FERRY_TRY(core.module_shares.expect_audit(key));
  }
  if constexpr (std::is_same_v<Request, wire::DeleteBaseline>) FERRY_TRY(core.module_shares.expect_audit(key));
  return core.module_shares.begin_request(key);
}

// Notes in the audit log who has set which baseline, once for each connection as long as it sets the same, and who has
// deleted which.
void audit_baseline(Core& core, ConnectionNumber from, const secure::KeyId& key, const Caller& caller,
                    const std::string& baseline, bool is_deleted) {
  const auto client = core.clients.find(from);
  if (client != core.clients.end()) {
    if (!is_deleted && client->second.audited_baseline == baseline) return;
    client->second.audited_baseline = is_deleted ? std::string() : baseline;
  }
  core.module_shares.count_audit(key);
  core.audit(caller, is_deleted ? "delete baseline" : "set baseline", std::nullopt, baseline, [](const Status&) {});
}

bool has_changed(const wire::BaselineSet& answer) { return answer.missing.empty() && !answer.is_older; }
bool has_changed(const wire::BaselineDeleted& answer) { return answer.cases > 0; }
bool has_changed(const wire::CasesDeleted& answer) { return answer.cases > 0; }

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
        const std::optional<secure::KeyId> key = core.peers.key_of(from);
        if (!key) return then(Status(ErrorCode::unavailable, "the connection has ended"));
        if (const Status share = take_share(core, from, *key, request); !share.is_ok()) return then(share);
        std::string baseline;
        if constexpr (kChangesBaseline<Request>) baseline = name_of(request);
        if constexpr (std::is_same_v<Request, wire::PutObject>) core.clients.at(from).sends_object = true;
        const auto answered = [&core, from, key = *key, caller, baseline, then](const Result<Reply>& reply) {
          core.module_shares.end_request(key);
          if constexpr (kChangesBaseline<Request>) {
            if (reply.is_ok() && has_changed(reply.value())) {
              audit_baseline(core, from, key, caller, baseline, std::is_same_v<Request, wire::DeleteBaseline>);
            }
          }
          if constexpr (std::is_same_v<Request, wire::PutObject>) {
            const auto client = core.clients.find(from);
            if (client != core.clients.end()) client->second.sends_object = reply.is_ok() && !reply.value().is_stored;
          }
          then(reply);
        };
        if constexpr (std::is_same_v<Request, wire::FindObjects>) {
          // What viewers ask keeps nothing from being deleted.
          if (caller.role == wire::Role::viewer)
            return core.modules->ask(from, ModuleStore::FindUnused{request}, answered);
        }
        if constexpr (std::is_same_v<Request, wire::AddVerdict>) {
          core.modules->ask(from, ModuleStore::AddVerdictOf{request, caller.holder}, answered);
        } else if constexpr (std::is_same_v<Request, wire::SetBaseline>) {
          core.modules->ask(from, ModuleStore::SetBaselineOf{request, caller.holder}, answered);
        } else {
          core.modules->ask(from, request, answered);
        }
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
