#include "farm/tracker/peer_listener.h"

#include <utility>

#include "base/format.h"
#include "farm/tracker/board_connections.h"
#include "farm/tracker/client_connections.h"
#include "farm/tracker/first_requests.h"
#include "farm/tracker/relay_connections.h"
#include "rpc/server/listen.h"

namespace ferry::farm {
namespace {

// Nobody keeps the others out with the connections of one key: a client has at most a quarter of them, and a board a
// few, for it may not be known yet that earlier ones have ended.
constexpr std::size_t kShareOfClient = 4;
constexpr std::size_t kConnectionsOfBoard = 16;

}  // namespace

Status PeerListener::bind(const std::string& host, std::uint16_t port) {
  FERRY_ASSIGN(listener_, server::listen_at(host, port, port, true));
  host_ = host;
  address_ = server::own_name(listener_.number());
  port_ = static_cast<std::uint16_t>(std::stoi(address_.substr(address_.rfind(':') + 1)));
  return {};
}

Status PeerListener::open() {
  if (listener_.number() < 0) FERRY_TRY(bind(host_, port_));
  acceptor_ = std::make_unique<server::Acceptor>(
      core_.loop, kFarmRequests, &core_.keys, secrets_, kMaxPending,
      server::Acceptor::Callbacks{[this](server::HandshakenClient client) { admit(std::move(client)); },
                                  {},
                                  [this](Descriptor socket, const rpc::RelayTicket& ticket) {
                                    accept_relay_end(core_, std::move(socket), ticket);
                                  }});
  acceptor_->listen(listener_.release());
  return {};
}

void PeerListener::close() {
  acceptor_.reset();
  listener_ = Descriptor();
}

TcpAddress PeerListener::own_address() const {
  TcpAddress own = parse_tcp_address(address_, 0).value();
  if (own.host == "0.0.0.0") own.host = "127.0.0.1";
  if (own.host == "::") own.host = "::1";
  return own;
}

void PeerListener::admit(server::HandshakenClient client) {
  if (!core_.scheduler) return;
  const Status refused = refusal_of(client);
  if (refused.is_ok()) return;
  ++core_.numbers.refused_connections;
  final_frames_.refuse(client, refused);
}

Status PeerListener::refusal_of(server::HandshakenClient& client) {
  const Credential* const credential = core_.keys.holder_of(client.key_id);
  if (credential == nullptr) return {ErrorCode::unauthenticated, "this key was revoked"};
  if (core_.peers.count(Peers::Kind::board) + core_.peers.count(Peers::Kind::client) >= max_connections_)
    return {ErrorCode::busy, format("%zu connections are open already", max_connections_)};
  const bool is_board = client.header.tag == static_cast<std::uint16_t>(wire::Tag::Join);
  if (is_board != (credential->kind == CredentialKind::board || credential->kind == CredentialKind::enrolment))
    return {ErrorCode::unauthenticated, is_board ? "this key is a client's" : "this key is a board's"};
  FERRY_TRY(core_.peers.take_turn(is_board ? Peers::Kind::board : Peers::Kind::client, client.key_id));
  const std::size_t most = is_board ? kConnectionsOfBoard : max_connections_ / kShareOfClient;
  if (core_.peers.count(client.key_id) >= most)
    return {ErrorCode::busy, format("%zu connections are open already with this key", most)};
  return is_board ? admit_board(core_, client, *credential) : admit_client(core_, client, *credential);
}

}  // namespace ferry::farm
