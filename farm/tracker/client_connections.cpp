#include "farm/tracker/client_connections.h"

#include <utility>

#include "base/format.h"
#include "farm/tracker/foreign_ids.h"
#include "farm/tracker/wire_types.h"
#include "rpc/wire/connection.h"

namespace ferry::farm {
namespace {

using namespace wire;

ClientConnection as_client(ConnectionNumber number) { return ClientConnection{number}; }
ConnectionNumber number_of(ClientConnection connection) { return static_cast<ConnectionNumber>(connection); }

void refuse(Core& core, ConnectionNumber to, std::uint64_t lease, const Status& why) {
  core.peers.send(to, Ended{lease, end_reason_name(EndReason::invalid),
                            failure_class_name(class_of(EndReason::invalid)), fit(why.message(), kMaxText)});
}

// Returns whether the client may do this to the lease. A viewer may share the name of its holder.
bool is_own(Core& core, const Caller& caller, const char* action, std::uint64_t lease) {
  audit_if_foreign(core, caller, action, lease);
  if (caller.role == wire::Role::viewer) return false;
  const auto request = core.scheduler->machine().find_request(LeaseId{lease});
  return request && request->request->holder == caller.holder;
}

// Nothing if it was refused.
std::optional<Request> read_request(Core& core, ConnectionNumber from, const Caller& caller,
                                    const LeaseRequest& asked) {
  if (caller.role == wire::Role::viewer) {
    refuse(core, from, asked.id, {ErrorCode::unauthenticated, "this key is for viewers, who get no boards"});
    return std::nullopt;
  }
  Result<Request> request = from_wire(asked, caller.holder);
  if (request.is_ok()) return std::move(request.value());
  refuse(core, from, asked.id, request.status());
  return std::nullopt;
}

void handle(Core& core, ConnectionNumber from, const Caller&, const Keepalive&) { core.peers.send(from, Keepalive{}); }

void handle(Core& core, ConnectionNumber from, const Caller& caller, const Submit& message) {
  if (auto request = read_request(core, from, caller, message.request))
    core.handle(RequestSubmitted{as_client(from), std::move(*request)});
}

void handle(Core& core, ConnectionNumber from, const Caller& caller, const Attach& message) {
  if (auto request = read_request(core, from, caller, message.request))
    core.handle(RequestAttached{as_client(from), std::move(*request), message.is_granted});
}

void handle(Core& core, ConnectionNumber, const Caller& caller, const Release& message) {
  if (is_own(core, caller, "release", message.lease)) core.handle(LeaseReleased{LeaseId{message.lease}});
}

void handle(Core& core, ConnectionNumber, const Caller& caller, const Extend& message) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (is_own(core, caller, "extend", message.lease))
    core.handle(ExtensionRequested{LeaseId{message.lease},
                                   Duration(static_cast<Duration::rep>(std::min(message.length_ms, kMost)))});
}

template <class Message>
Status decode_and_take(Core& core, ConnectionNumber from, const Caller& caller, std::span<const std::uint8_t> body) {
  FERRY_ASSIGN(const Message message, decode<Message>(body));
  handle(core, from, caller, message);
  return {};
}

}  // namespace

Status admit_client(Core& core, server::HandshakenClient& client, const Credential& credential) {
  FERRY_ASSIGN(const Hello hello, decode<Hello>(client.body));
  const Caller caller{credential.label, credential.role};
  const ConnectionNumber number =
      core.peers.admit(Peers::Kind::client, std::move(client), Welcome{kVersionMax, fit(caller.holder, kMaxText)});
  if (core.peers.contains(number)) core.clients[number] = {caller, fit(hello.client, kMaxText), 0, {}};
  return {};
}

Status handle_client_event(Core& core, ConnectionNumber from, Tag tag, std::span<const std::uint8_t> body) {
  const auto found = core.clients.find(from);
  if (found == core.clients.end()) return {};
  const Caller caller = found->second.caller;
  core.handle(ClientHeard{as_client(from)});
  // A step that was due meanwhile may have ended this tracker's turn.
  if (!core.scheduler) return {};
  switch (tag) {
    case Tag::Keepalive: return decode_and_take<Keepalive>(core, from, caller, body);
    case Tag::Submit: return decode_and_take<Submit>(core, from, caller, body);
    case Tag::Attach: return decode_and_take<Attach>(core, from, caller, body);
    case Tag::Release: return decode_and_take<Release>(core, from, caller, body);
    case Tag::Extend: return decode_and_take<Extend>(core, from, caller, body);
    default: return {};
  }
}

void client_left(Core& core, ConnectionNumber number) {
  if (core.clients.erase(number) == 0) return;
  if (core.modules) core.modules->forget(number);
  core.handle(ClientLeft{as_client(number)});
}

void carry_out(Core& core, const TellWaiting& action) {
  core.peers.send(number_of(action.client),
                  Waiting{static_cast<std::uint64_t>(action.lease), static_cast<std::uint32_t>(action.place),
                          to_wire(action.estimate), fit(action.why, kMaxText)});
}

void carry_out(Core& core, const TellGranted& action) {
  ++core.numbers.leases_granted;
  Granted granted{static_cast<std::uint64_t>(action.lease), to_wire(action.remaining), {}};
  for (const LeasePart& part : action.parts) {
    const auto board = core.scheduler->machine().find_board(part.board);
    const BoardFacts* const facts = board ? core.facts_of(*board) : nullptr;
    const secure::Key key = core.keys.lease_key(granted.lease, static_cast<std::uint64_t>(part.board), part.epoch);
    granted.slots.push_back({fit(core.name_of(part.board), kMaxName), facts == nullptr ? std::string() : facts->address,
                             part.epoch, key.bytes});
  }
  core.peers.send(number_of(action.client), granted);
}

void carry_out(Core& core, const TellExtension& action) {
  core.peers.send(number_of(action.client), Extension{static_cast<std::uint64_t>(action.lease),
                                                      to_wire(action.remaining), fit(action.refusal, kMaxText)});
}

void carry_out(Core& core, const TellWarning& action) {
  core.peers.send(number_of(action.client),
                  wire::Warning{static_cast<std::uint64_t>(action.lease), to_wire(action.remaining)});
}

void carry_out(Core& core, const TellEnded& action) {
  core.peers.send(number_of(action.client),
                  Ended{static_cast<std::uint64_t>(action.lease), end_reason_name(action.reason),
                        failure_class_name(class_of(action.reason)), fit(action.text, kMaxText)});
}

void carry_out(Core& core, const ForeignIdRefused& action) {
  const auto client = core.clients.find(number_of(action.client));
  if (client == core.clients.end()) return;
  audit_foreign_id(core, client->second.caller, "submit", static_cast<std::uint64_t>(action.lease));
}

}  // namespace ferry::farm
