#include "tests/support/farm_client/scripted_tracker.h"

#include <asio/post.hpp>
#include <chrono>
#include <future>
#include <stdexcept>

#include "rpc/server/first_request.h"
#include "rpc/server/key_source.h"
#include "rpc/server/listen.h"

namespace ferry::test {
namespace {

using farm::wire::Tag;

bool is_hello(std::uint16_t tag) { return tag == static_cast<std::uint16_t>(Tag::Hello); }

Status check_hello(std::uint16_t, std::span<const std::uint8_t> body) {
  return farm::wire::decode<farm::wire::Hello>(body).status();
}

const server::FirstRequestRules kRules{"hello", farm::wire::kMaxFirstBody, is_hello, check_hello};
constexpr server::FrameChannel::Limits kLimits{farm::wire::kMaxBody, 8 << 20};
constexpr std::size_t kMostConnections = 64;

}  // namespace

struct ScriptedTracker::Keys final : server::KeySource {
  explicit Keys(const secure::Key& one) : key(one) {}
  Result<std::optional<secure::Key>> find(const secure::KeyId& id) const override {
    return id == key.id() ? std::optional(key) : std::nullopt;
  }
  secure::Key key;
};

struct ScriptedTracker::Client final : ScriptedTracker::Peer, server::FrameChannel::Owner {
  explicit Client(ScriptedTracker& of) : tracker(of) {}
  ~Client() override { channel->close(); }

  void on_frame(const rpc::FrameHeader& header, std::span<const std::uint8_t> body) override {
    if (header.tag == static_cast<std::uint16_t>(Tag::Keepalive)) {
      if (!tracker.is_silent_) send(farm::wire::Keepalive());
      return;
    }
    const Message message{number, header, {body.begin(), body.end()}};
    {
      const std::lock_guard lock(tracker.mutex_);
      tracker.messages_.push_back(message);
    }
    if (!tracker.is_silent_) tracker.script_(*this, message);
  }
  void on_end(const Status&) override { count_end(); }
  void send_bytes(std::span<const std::uint8_t> bytes) override { channel->send(bytes); }
  void close() override {
    if (!channel->is_open()) return;
    channel->close();
    count_end();
  }
  void count_end() const {
    const std::lock_guard lock(tracker.mutex_);
    ++tracker.ended_;
  }

  ScriptedTracker& tracker;
  std::shared_ptr<server::FrameChannel> channel;
};

ScriptedTracker::ScriptedTracker(const secure::Key& key, Script script)
    : keys_(std::make_unique<Keys>(key)), script_(std::move(script)), secrets_(kMostConnections) {
  acceptor_ = std::make_unique<server::Acceptor>(
      loop_, kRules, keys_.get(), secrets_, kMostConnections,
      server::Acceptor::Callbacks{[this](server::HandshakenClient client) { greet(std::move(client)); }, {}});
  auto listener = server::listen_at("127.0.0.1", 0, 0, true);
  if (!listener.is_ok()) throw std::runtime_error(listener.status().message());
  const std::string name = server::own_name(listener.value().number());
  port_ = static_cast<std::uint16_t>(std::stoi(name.substr(name.find(':') + 1)));
  acceptor_->listen(listener.value().release());
  thread_ = std::thread([this] { loop_.run(); });
}

ScriptedTracker::~ScriptedTracker() {
  loop_.stop();
  thread_.join();
  clients_.clear();
}

void ScriptedTracker::greet(server::HandshakenClient client) {
  auto one = std::make_unique<Client>(*this);
  Client& peer = *one;
  peer.channel = server::FrameChannel::start(loop_, std::move(client.socket), std::move(client.secure), kLimits, peer);
  clients_.push_back(std::move(one));
  {
    const std::lock_guard lock(mutex_);
    peer.number = connections_++;
  }
  if (is_silent_) return;
  if (!hello_refusal_.is_ok()) return peer.refuse(client.header, hello_refusal_);
  peer.answer(client.header, farm::wire::Welcome{farm::wire::kVersionMax, "alice"});
}

void ScriptedTracker::on_loop(const std::function<void()>& work) {
  std::promise<void> done;
  asio::post(loop_.context(), [&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

void ScriptedTracker::with_peers(const std::function<void(Peer&)>& work) {
  on_loop([&] {
    for (const auto& client : clients_)
      if (client->channel->is_open()) work(*client);
  });
}

void ScriptedTracker::close_all() {
  with_peers([](Peer& peer) { peer.close(); });
}

void ScriptedTracker::refuse_hello(const Status& why) {
  on_loop([&] { hello_refusal_ = why; });
}

void ScriptedTracker::fall_silent() {
  on_loop([&] { is_silent_ = true; });
}

std::vector<ScriptedTracker::Message> ScriptedTracker::messages() const {
  const std::lock_guard lock(mutex_);
  return messages_;
}

std::size_t ScriptedTracker::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

std::size_t ScriptedTracker::ended_connections() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

bool ScriptedTracker::wait_until(const std::function<bool()>& condition) const {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return condition();
}

farm::FarmAccess access_to(const std::vector<TcpAddress>& trackers, const secure::Key& key) {
  return {"lab", trackers, key, "alice.key", "ferry test"};
}

}  // namespace ferry::test
