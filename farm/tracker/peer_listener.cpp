#include "farm/tracker/peer_listener.h"

#include <utility>

#include "base/format.h"
#include "farm/tracker/first_requests.h"
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
      loop_, kFarmRequests, &keys_, secrets_, kMaxPending,
      server::Acceptor::Callbacks{
          [this](server::HandshakenClient client) { admit(std::move(client)); }, {}, callbacks_.accept_relay_end});
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
  if (!scheduler_) return;
  const Status refused = refusal_of(client);
  if (refused.is_ok()) return;
  ++refused_;
  final_frames_.refuse(client, refused);
}

Status PeerListener::refusal_of(server::HandshakenClient& client) {
  const Credential* const credential = keys_.holder_of(client.key_id);
  if (credential == nullptr) return {ErrorCode::unauthenticated, "this key was revoked"};
  if (peers_.count(Peers::Kind::board) + peers_.count(Peers::Kind::client) >= max_connections_)
    return {ErrorCode::busy, format("%zu connections are open already", max_connections_)};
  const bool is_board = client.header.tag == static_cast<std::uint16_t>(wire::Tag::Join);
  if (is_board != (credential->kind == CredentialKind::board || credential->kind == CredentialKind::enrolment))
    return {ErrorCode::unauthenticated, is_board ? "this key is a client's" : "this key is a board's"};
  FERRY_TRY(peers_.take_turn(is_board ? Peers::Kind::board : Peers::Kind::client, client.key_id));
  const std::size_t most = is_board ? kConnectionsOfBoard : max_connections_ / kShareOfClient;
  if (peers_.count(client.key_id) >= most)
    return {ErrorCode::busy, format("%zu connections are open already with this key", most)};
  return is_board ? callbacks_.admit_board(client, *credential) : callbacks_.admit_client(client, *credential);
}

}  // namespace ferry::farm
