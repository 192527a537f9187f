#include "farm/tracker/client_connections.h"

#include <utility>

#include "base/format.h"
#include "farm/tracker/wire_types.h"
#include "rpc/wire/connection.h"

namespace ferry::farm {
namespace {

ClientConnection as_client(ConnectionNumber number) { return ClientConnection{number}; }
ConnectionNumber number_of(ClientConnection connection) { return static_cast<ConnectionNumber>(connection); }

}  // namespace

void ClientConnections::refuse(ConnectionNumber to, std::uint64_t lease, const Status& why) {
  peers_.send(to, wire::Ended{lease, end_reason_name(EndReason::invalid),
                              failure_class_name(class_of(EndReason::invalid)), fit(why.message(), wire::kMaxText)});
}

bool ClientConnections::is_own(const Caller& caller, const char* action, std::uint64_t lease) {
  audit_.write_if_foreign(caller, action, lease);
  if (caller.role == wire::Role::viewer) return false;
  const auto request = scheduler_.machine().find_request(LeaseId{lease});
  return request && request->request->holder == caller.holder;
}

std::optional<Request> ClientConnections::read_request(ConnectionNumber from, const Caller& caller,
                                                       const wire::LeaseRequest& asked) {
  if (caller.role == wire::Role::viewer) {
    refuse(from, asked.id, {ErrorCode::unauthenticated, "this key is for viewers, who get no boards"});
    return std::nullopt;
  }
  Result<Request> request = from_wire(asked, caller.holder);
  if (request.is_ok()) return std::move(request.value());
  refuse(from, asked.id, request.status());
  return std::nullopt;
}

void ClientConnections::handle(ConnectionNumber from, const Caller&, const wire::Keepalive&) {
  peers_.send(from, wire::Keepalive{});
}

void ClientConnections::handle(ConnectionNumber from, const Caller& caller, const wire::Submit& message) {
  if (auto request = read_request(from, caller, message.request))
    scheduler_.handle(RequestSubmitted{as_client(from), std::move(*request)});
}

void ClientConnections::handle(ConnectionNumber from, const Caller& caller, const wire::Attach& message) {
  if (auto request = read_request(from, caller, message.request))
    scheduler_.handle(RequestAttached{as_client(from), std::move(*request), message.is_granted});
}

void ClientConnections::handle(ConnectionNumber, const Caller& caller, const wire::Release& message) {
  if (is_own(caller, "release", message.lease)) scheduler_.handle(LeaseReleased{LeaseId{message.lease}});
}

void ClientConnections::handle(ConnectionNumber, const Caller& caller, const wire::Extend& message) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (is_own(caller, "extend", message.lease))
    scheduler_.handle(ExtensionRequested{LeaseId{message.lease},
                                         Duration(static_cast<Duration::rep>(std::min(message.length_ms, kMost)))});
}

template <class Message>
Status ClientConnections::decode_and_handle(ConnectionNumber from, const Caller& caller,
                                            std::span<const std::uint8_t> body) {
  FERRY_ASSIGN(const Message message, wire::decode<Message>(body));
  handle(from, caller, message);
  return {};
}

Status ClientConnections::admit(server::HandshakenClient& client, const Credential& credential) {
  FERRY_ASSIGN(const wire::Hello hello, wire::decode<wire::Hello>(client.body));
  const Caller caller{credential.label, credential.role};
  const ConnectionNumber number = peers_.admit(Peers::Kind::client, std::move(client),
                                               wire::Welcome{wire::kVersionMax, fit(caller.holder, wire::kMaxText)});
  if (peers_.contains(number)) clients_[number] = {caller, fit(hello.client, wire::kMaxText), 0, {}};
  return {};
}

Status ClientConnections::handle_event(ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body) {
  const auto found = clients_.find(from);
  if (found == clients_.end()) return {};
  const Caller caller = found->second.caller;
  scheduler_.handle(ClientHeard{as_client(from)});
  // A step that was due meanwhile may have ended this tracker's turn.
  if (!scheduler_) return {};
  switch (tag) {
    case wire::Tag::Keepalive: return decode_and_handle<wire::Keepalive>(from, caller, body);
    case wire::Tag::Submit: return decode_and_handle<wire::Submit>(from, caller, body);
    case wire::Tag::Attach: return decode_and_handle<wire::Attach>(from, caller, body);
    case wire::Tag::Release: return decode_and_handle<wire::Release>(from, caller, body);
    case wire::Tag::Extend: return decode_and_handle<wire::Extend>(from, caller, body);
    default: return {};
  }
}

void ClientConnections::left(ConnectionNumber number) {
  if (clients_.erase(number) == 0) return;
  scheduler_.handle(ClientLeft{as_client(number)});
}

ConnectedClient* ClientConnections::find(ConnectionNumber number) {
  const auto found = clients_.find(number);
  return found == clients_.end() ? nullptr : &found->second;
}

void ClientConnections::carry_out(const TellWaiting& action) {
  peers_.send(number_of(action.client),
              wire::Waiting{static_cast<std::uint64_t>(action.lease), static_cast<std::uint32_t>(action.place),
                            to_wire(action.estimate), fit(action.why, wire::kMaxText)});
}

void ClientConnections::carry_out(const TellGranted& action) {
  ++leases_granted_;
  wire::Granted granted{static_cast<std::uint64_t>(action.lease), to_wire(action.remaining), {}};
  for (const LeasePart& part : action.parts) {
    const auto board = scheduler_.machine().find_board(part.board);
    const BoardFacts* const facts = board ? boards_.facts_of(*board) : nullptr;
    const secure::Key key = keys_.lease_key(granted.lease, static_cast<std::uint64_t>(part.board), part.epoch);
    granted.slots.push_back({fit(boards_.name_of(part.board), wire::kMaxName),
                             facts == nullptr ? std::string() : facts->address, part.epoch, key.bytes});
  }
  peers_.send(number_of(action.client), granted);
}

void ClientConnections::carry_out(const TellExtension& action) {
  peers_.send(number_of(action.client),
              wire::Extension{static_cast<std::uint64_t>(action.lease), to_wire(action.remaining),
                              fit(action.refusal, wire::kMaxText)});
}

void ClientConnections::carry_out(const TellWarning& action) {
  peers_.send(number_of(action.client),
              wire::Warning{static_cast<std::uint64_t>(action.lease), to_wire(action.remaining)});
}

void ClientConnections::carry_out(const TellEnded& action) {
  peers_.send(number_of(action.client),
              wire::Ended{static_cast<std::uint64_t>(action.lease), end_reason_name(action.reason),
                          failure_class_name(class_of(action.reason)), fit(action.text, wire::kMaxText)});
}

void ClientConnections::carry_out(const ForeignIdRefused& action) {
  const ConnectedClient* const client = find(number_of(action.client));
  if (client == nullptr) return;
  audit_.write_foreign_id(client->caller, "submit", static_cast<std::uint64_t>(action.lease));
}

}  // namespace ferry::farm
