// A client and a board that meet at a tracker: tickets, the desk, the relay, and the handshake from end to end.
#include <doctest/doctest.h>

#include <mutex>
#include <thread>

#include "farm/relay/relay.h"
#include "farm/relay/relay_tokens.h"
#include "rpc/secure/client_handshake.h"
#include "rpc/server/acceptor.h"
#include "rpc/server/final_frame.h"
#include "rpc/server/key_ring.h"
#include "rpc/server/listen.h"
#include "rpc/transport/tcp.h"
#include "rpc/wire/codec.h"
#include "rpc/wire/connection.h"
#include "rpc/wire/relay_preamble.h"
#include "tests/unit/device-runtime/support/key_files.h"

namespace ferry::test {
namespace {

using farm::Relay;
using farm::RelayTokens;

// Runs an acceptor on a thread of its own.
class Listener {
 public:
  Listener(const server::KeySource* keys, std::function<void(Descriptor, const rpc::RelayTicket&)> on_relay)
      : acceptor_(loop_, server::kSessionRequests, keys, secrets_, 16,
                  {[this](server::HandshakenClient client) {
                     const std::string name = rpc::decode<rpc::Open>(client.body).value().client;
                     final_frames_.refuse(client, {ErrorCode::busy, "hello " + name});
                   },
                   {},
                   std::move(on_relay)}) {
    auto listener = server::listen_at("127.0.0.1", 0, 0, true);
    REQUIRE_MESSAGE(listener.is_ok(), listener.status().message());
    const std::string name = server::own_name(listener.value().number());
    port_ = static_cast<std::uint16_t>(std::stoi(name.substr(name.find(':') + 1)));
    acceptor_.listen(listener.value().release());
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Listener() {
    loop_.stop();
    thread_.join();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::unique_ptr<Transport> connect() const {
    auto transport = connect_tcp("127.0.0.1", port_);
    REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
    transport.value()->set_receive_timeout(std::chrono::seconds(20));
    return std::move(transport.value());
  }
  std::unique_ptr<Transport> present(std::uint64_t token, rpc::RelayEnd end) const {
    auto transport = connect();
    REQUIRE(rpc::send_relay_preamble(*transport, {token, end}).is_ok());
    return transport;
  }

 private:
  std::uint16_t port_ = 0;
  server::SecretMemory secrets_{16};
  server::EventLoop loop_;
  server::FinalFrames final_frames_{loop_, 16};
  server::Acceptor acceptor_;
  std::thread thread_;
};

// A tracker that does nothing but relay.
struct Tracker {
  std::uint64_t open() {
    const std::lock_guard lock(mutex);
    return desk.open(1, std::chrono::steady_clock::now()).value();
  }
  void arrive(Descriptor socket, const rpc::RelayTicket& ticket) {
    const std::lock_guard lock(mutex);
    if (auto ends = desk.arrive(ticket, std::move(socket), std::chrono::steady_clock::now()))
      CHECK(relay->add(ends->lease, std::move(ends->client), std::move(ends->board)).is_ok());
  }

  std::mutex mutex;
  RelayTokens desk;
  std::unique_ptr<Relay> relay = std::move(Relay::start({}).value());
  KeyFiles files;
  secure::Key key = files.add("tracker.key");
  server::KeyRing keys = server::KeyRing::open(files.path("tracker.key")).value();
  Listener listener{&keys,
                    [this](Descriptor socket, const rpc::RelayTicket& ticket) { arrive(std::move(socket), ticket); }};
};

// Forwards between two transports, as the board does with its own acceptor.
void pump(Transport& from, Transport& to) {
  std::array<std::uint8_t, 4096> bytes;
  while (true) {
    const auto count = from.receive_some(bytes, 1);
    if (!count.is_ok()) return to.close_send();
    const std::array<ByteSpan, 1> pieces{ByteSpan(bytes).first(count.value())};
    if (!to.send(pieces).is_ok()) return;
  }
}

TEST_CASE("a client does its handshake with the board through the tracker, which holds no key of theirs") {
  Tracker tracker;
  const KeyFiles files;
  const secure::Key psk = files.add("lease.key");
  const server::KeyRing keys = server::KeyRing::open(files.path("lease.key")).value();
  const Listener board(&keys, {});
  const std::uint64_t token = tracker.open();
  const auto dialed = tracker.listener.present(token, rpc::RelayEnd::board), own = board.connect();
  std::thread in([&] { pump(*dialed, *own); }), out([&] { pump(*own, *dialed); });
  auto secured =
      secure::encrypt_connection(tracker.listener.present(token, rpc::RelayEnd::client), psk, std::chrono::seconds(20));
  REQUIRE_MESSAGE(secured.is_ok(), secured.status().message());
  {
    rpc::Connection connection(std::move(secured.value()));
    rpc::Open open;
    open.client = "from afar";
    REQUIRE(connection.send_request(1, open).is_ok());
    const auto frame = connection.receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    CHECK(rpc::failure_of(frame.value()).message() == "hello from afar");
  }
  in.join();
  out.join();
  CHECK(tracker.relay->relayed_bytes() > 2 * rpc::kPreambleBytes);
}

TEST_CASE("whoever presents a token that is not valid is disconnected without an answer") {
  Tracker tracker;
  const std::uint64_t token = tracker.open();
  const auto waiting = tracker.listener.present(token, rpc::RelayEnd::client);
  const auto expect_closed = [&](std::uint64_t other) {
    const auto stranger = tracker.listener.present(other, rpc::RelayEnd::client);
    std::array<std::uint8_t, 1> answer;
    CHECK(stranger->receive(answer).message() == kPeerClosed);
  };
  expect_closed(token + 1);
  expect_closed(0);
  expect_closed(token);  // this end has come already
  const auto board = tracker.listener.present(token, rpc::RelayEnd::board);
  const std::array<std::uint8_t, 3> sent{1, 2, 3};
  const std::array<ByteSpan, 1> pieces{sent};
  REQUIRE(board->send(pieces).is_ok());
  std::array<std::uint8_t, 3> got{};
  CHECK(waiting->receive(got).is_ok());
  CHECK(got == sent);
}

}  // namespace
}  // namespace ferry::test
