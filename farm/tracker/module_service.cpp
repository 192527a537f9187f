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

bool has_changed(const wire::BaselineSet& answer) { return answer.missing.empty() && !answer.is_older; }
bool has_changed(const wire::BaselineDeleted& answer) { return answer.cases > 0; }
bool has_changed(const wire::CasesDeleted& answer) { return answer.cases > 0; }

}  // namespace

void ModuleService::open(server::EventLoop& loop, const std::string& database, std::uint64_t quota) {
  modules_ = std::make_unique<ModuleThread>(loop, database, quota);
}

void ModuleService::begin() {
  if (modules_) modules_->begin();
}

void ModuleService::forget(ConnectionNumber client) {
  if (modules_) modules_->forget(client);
}

bool ModuleService::transfers_nothing(ConnectionNumber connection) {
  ConnectedClient* const client = clients_.find(connection);
  return client == nullptr || (client->queries == 0 && !client->sends_object && peers_.queued(connection) == 0);
}

// Takes the request's share of what its key may use. Fails with busy if there is none.
template <class Request>
Status ModuleService::take_share(ConnectionNumber from, const secure::KeyId& key, const Request& request) {
  if constexpr (std::is_same_v<Request, wire::PutObject> || std::is_same_v<Request, wire::GetObject>) {
    FERRY_TRY(
        shares_.begin_transfer(key, from, [&](ConnectionNumber connection) { return transfers_nothing(connection); }));
  }
  if constexpr (std::is_same_v<Request, wire::SetBaseline> || std::is_same_v<Request, wire::DeleteCases>) {
    if (clients_.find(from)->audited_baseline != name_of(request)) FERRY_TRY(shares_.expect_audit(key));
  }
  if constexpr (std::is_same_v<Request, wire::DeleteBaseline>) FERRY_TRY(shares_.expect_audit(key));
  return shares_.begin_request(key);
}

// Notes in the audit log who has set which baseline, once for each connection as long as it sets the same, and who has
// deleted which.
void ModuleService::audit_baseline(ConnectionNumber from, const secure::KeyId& key, const Caller& caller,
                                   const std::string& baseline, bool is_deleted) {
  ConnectedClient* const client = clients_.find(from);
  if (client != nullptr) {
    if (!is_deleted && client->audited_baseline == baseline) return;
    client->audited_baseline = is_deleted ? std::string() : baseline;
  }
  shares_.count_audit(key);
  audit_.write(caller, is_deleted ? "delete baseline" : "set baseline", std::nullopt, baseline, [](const Status&) {});
}

template <class Request>
Status ModuleService::ask(ConnectionNumber from, const rpc::FrameHeader& header, std::span<const std::uint8_t> body) {
  using Reply = typename wire::MessageOf<Request>::Reply;
  return decode_and_answer<Request>(
      clients_, peers_, from, header, body,
      [this, from](const Caller& caller, const Request& request, const auto& then) {
        if (!kOnlyReads<Request> && caller.role == wire::Role::viewer) {
          return then(Status(ErrorCode::unauthenticated, "this key is for viewers, who may not store modules"));
        }
        if (!modules_) return then(Status(ErrorCode::unsupported, "this farm keeps no modules"));
        const std::optional<secure::KeyId> key = peers_.key_of(from);
        if (!key) return then(Status(ErrorCode::unavailable, "the connection has ended"));
        if (const Status share = take_share(from, *key, request); !share.is_ok()) return then(share);
        std::string baseline;
        if constexpr (kChangesBaseline<Request>) baseline = name_of(request);
        if constexpr (std::is_same_v<Request, wire::PutObject>) clients_.find(from)->sends_object = true;
        const auto answered = [this, from, key = *key, caller, baseline, then](const Result<Reply>& reply) {
          shares_.end_request(key);
          if constexpr (kChangesBaseline<Request>) {
            if (reply.is_ok() && has_changed(reply.value())) {
              audit_baseline(from, key, caller, baseline, std::is_same_v<Request, wire::DeleteBaseline>);
            }
          }
          if constexpr (std::is_same_v<Request, wire::PutObject>) {
            ConnectedClient* const client = clients_.find(from);
            if (client != nullptr) client->sends_object = reply.is_ok() && !reply.value().is_stored;
          }
          then(reply);
        };
        if constexpr (std::is_same_v<Request, wire::FindObjects>) {
          // What viewers ask keeps nothing from being deleted.
          if (caller.role == wire::Role::viewer) return modules_->ask(from, ModuleStore::FindUnused{request}, answered);
        }
        if constexpr (std::is_same_v<Request, wire::AddVerdict>) {
          modules_->ask(from, ModuleStore::AddVerdictOf{request, caller.holder}, answered);
        } else if constexpr (std::is_same_v<Request, wire::SetBaseline>) {
          modules_->ask(from, ModuleStore::SetBaselineOf{request, caller.holder}, answered);
        } else {
          modules_->ask(from, request, answered);
        }
      });
}

Status ModuleService::answer_frame(ConnectionNumber from, const rpc::FrameHeader& header,
                                   std::span<const std::uint8_t> body) {
  switch (static_cast<wire::Tag>(header.tag)) {
#define FERRY_CASE(tag, request, reply, name, directions) \
  case wire::Tag::request: return ask<wire::request>(from, header, body);
    FERRY_FARM_MODULE_REQUESTS(FERRY_CASE)
#undef FERRY_CASE
    default: break;
  }
  return {ErrorCode::protocol_error, "expected a request about modules"};
}

}  // namespace ferry::farm
