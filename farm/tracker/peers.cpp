#include "farm/tracker/peers.h"

#include <asio/post.hpp>
#include <utility>
#include <vector>

#include "farm/tracker/wire_types.h"
#include "rpc/server/listen.h"

namespace ferry::farm {
namespace {

// A peer that does not read may keep so many bytes waiting: pages of listings for a client, a few events for a board.
constexpr std::size_t kQueuedForBoard = std::size_t{64} << 10;
constexpr std::size_t kQueuedForClient = std::size_t{8} << 20;

// While the database lags behind. Many clients may share a client's key.
constexpr std::size_t kTurnsOfBoard = 100;
constexpr std::size_t kTurnsOfClient = 1000;

// These are never a commit, and must come at any time.
bool is_sign_of_life(std::uint16_t tag) {
  return tag == static_cast<std::uint16_t>(wire::Tag::Heartbeat) ||
         tag == static_cast<std::uint16_t>(wire::Tag::Keepalive);
}

}  // namespace

struct Peers::Peer final : server::FrameChannel::Owner {
  Peer(Peers& all, ConnectionNumber own_number, Kind own_kind, const secure::KeyId& key_id)
      : peers(all), number(own_number), kind(own_kind), key(key_id) {}
  ~Peer() override {
    if (channel) channel->close();
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void on_frame(const rpc::FrameHeader& header, std::span<const std::uint8_t> body) override {
    peers.on_frame(*this, header, body);
  }
  void on_end(const Status&) override { peers.leave(number, {}); }

  Peers& peers;
  const ConnectionNumber number;
  const Kind kind;
  const secure::KeyId key;
  Clock::time_point kept_alive_at = Clock::now();  // by a frame of it, or by a keepalive to it while one arrives
  std::shared_ptr<server::FrameChannel> channel;
};

Peers::Peers(server::EventLoop& loop, PeerHandler& handler) : loop_(loop), handler_(handler) {}
Peers::~Peers() { close_all(); }

ConnectionNumber Peers::add(Kind kind, server::HandshakenClient client) {
  const ConnectionNumber number = ++last_;
  auto peer = std::make_unique<Peer>(*this, number, kind, client.key_id);
  peer->channel =
      server::FrameChannel::start(loop_, std::move(client.socket), std::move(client.secure),
                                  {wire::kMaxBody, kind == Kind::board ? kQueuedForBoard : kQueuedForClient}, *peer);
  ++keys_[peer->key].connections;
  peers_[number] = std::move(peer);
  if (kind == Kind::board) ++boards_;
  return number;
}

void Peers::send_frame(ConnectionNumber to, std::span<const std::uint8_t> frame) {
  const auto found = peers_.find(to);
  if (found == peers_.end()) return;
  const auto channel = found->second->channel;  // sending may end the connection
  channel->send(frame);
}

void Peers::on_frame(Peer& peer, const rpc::FrameHeader& header, std::span<const std::uint8_t> body) {
  peer.kept_alive_at = Clock::now();
  const ConnectionNumber number = peer.number;
  const Status taken = take_frame(peer, header, body);
  if (!taken.is_ok()) leave(number, taken.message());
}

Status Peers::take_frame(Peer& peer, const rpc::FrameHeader& header, std::span<const std::uint8_t> body) {
  if (!is_sign_of_life(header.tag)) FERRY_TRY(take_turn(peer.kind, peer.key));
  const wire::Direction from = peer.kind == Kind::board ? wire::kFromBoard : wire::kFromClient;
  if (header.kind == rpc::FrameKind::request && peer.kind == Kind::client)
    return handler_.on_query(peer.number, header, body);
  if (header.kind != rpc::FrameKind::event) return {ErrorCode::protocol_error, "expected an event, got another frame"};
  // An event of a later version.
  if (!wire::has_direction(header.tag, from)) return {};
  const auto tag = static_cast<wire::Tag>(header.tag);
  return peer.kind == Kind::board ? handler_.on_board_event(peer.number, tag, body)
                                  : handler_.on_client_event(peer.number, tag, body);
}

bool Peers::remove(ConnectionNumber number) {
  const auto found = peers_.find(number);
  if (found == peers_.end()) return false;
  std::shared_ptr<Peer> peer = std::move(found->second);
  peers_.erase(found);
  if (peer->kind == Kind::board) --boards_;
  --keys_.at(peer->key).connections;
  peer->channel->close();
  // The peer may be the one whose callback runs.
  asio::post(loop_.context(), [peer] {});
  return true;
}

void Peers::close(ConnectionNumber number, const std::string& reason) {
  if (!reason.empty()) send(number, wire::Refused{fit(reason, wire::kMaxText)});
  remove(number);
}

void Peers::leave(ConnectionNumber number, const std::string& reason) {
  if (!reason.empty()) send(number, wire::Refused{fit(reason, wire::kMaxText)});
  if (remove(number)) handler_.on_left(number);
}

void Peers::close_key(const secure::KeyId& key, const std::string& reason) {
  std::vector<ConnectionNumber> numbers;
  for (const auto& [number, peer] : peers_)
    if (peer->key == key) numbers.push_back(number);
  for (const ConnectionNumber number : numbers) leave(number, reason);
}

void Peers::close_all() {
  while (!peers_.empty()) remove(peers_.begin()->first);
}

void Peers::close_silent() {
  const Clock::time_point now = Clock::now();
  std::vector<ConnectionNumber> numbers, slow;
  for (const auto& [number, peer] : peers_) {
    const Clock::time_point heard_at = peer->channel->heard_at();
    if (now - heard_at > wire::kSilence) numbers.push_back(number);
    // A frame takes long to arrive, and its sender, who may send nothing else meanwhile, gets no answer yet.
    if (heard_at > peer->kept_alive_at && now - peer->kept_alive_at > wire::kHeartbeatPeriod) {
      peer->kept_alive_at = now;
      slow.push_back(number);
    }
  }
  for (const ConnectionNumber number : numbers) leave(number, "nothing was heard for too long");
  for (const ConnectionNumber number : slow) send(number, wire::Keepalive{});
  // The counts of a congestion outlast the connections.
  if (!handler_.is_congested()) std::erase_if(keys_, [](const auto& entry) { return entry.second.connections == 0; });
}

std::size_t Peers::count(const secure::KeyId& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? 0 : found->second.connections;
}

Status Peers::take_turn(Kind kind, const secure::KeyId& key) {
  const bool is_congested = handler_.is_congested();
  const bool was_congested = std::exchange(was_congested_, is_congested);
  if (!is_congested) return {};
  if (!was_congested) ++congestions_;
  KeyUse& use = keys_[key];
  if (std::exchange(use.congestion, congestions_) != congestions_) use.turns = 0;
  if (++use.turns <= (kind == Kind::board ? kTurnsOfBoard : kTurnsOfClient)) return {};
  return {ErrorCode::busy, "the database lags behind, and too much was asked under this key; try again later"};
}

std::size_t Peers::queued(ConnectionNumber number) const {
  const auto found = peers_.find(number);
  return found == peers_.end() ? 0 : found->second->channel->queued();
}

std::optional<secure::KeyId> Peers::key_of(ConnectionNumber number) const {
  const auto found = peers_.find(number);
  if (found == peers_.end()) return std::nullopt;
  return found->second->key;
}

std::string Peers::address_of(ConnectionNumber number) const {
  const auto found = peers_.find(number);
  return found == peers_.end() ? std::string() : server::peer_name(found->second->channel->socket());
}

}  // namespace ferry::farm
