// Tests a listener with handshakes, in this process: who is admitted, who is refused and how.
#include "rpc/server/acceptor.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rpc/secure/client_handshake.h"
#include "rpc/server/final_frame.h"
#include "rpc/server/key_ring.h"
#include "rpc/server/listen.h"
#include "rpc/transport/tcp.h"
#include "tests/unit/device-runtime/support/key_files.h"
#include "tests/unit/rpc/server/socket_pair.h"

namespace ferry::test {
namespace {

using Clock = std::chrono::steady_clock;

// Answers every client that it admits with ok, on a thread of its own.
class Greeter {
 public:
  explicit Greeter(const server::KeyRing* keys, std::size_t max_pending = 16)
      : secrets_(max_pending),
        final_frames_(loop_, 16),
        acceptor_(loop_, server::kSessionRequests, keys, secrets_, max_pending,
                  {[this](server::HandshakenClient client) { greet(client); }, {}}) {
    auto listener = server::listen_at("127.0.0.1", 0, 0, keys != nullptr);
    REQUIRE_MESSAGE(listener.is_ok(), listener.status().message());
    const std::string name = server::own_name(listener.value().number());
    port_ = static_cast<std::uint16_t>(std::stoi(name.substr(name.find(':') + 1)));
    acceptor_.listen(listener.value().release());
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Greeter() {
    loop_.stop();
    thread_.join();
  }
  Greeter(const Greeter&) = delete;
  Greeter& operator=(const Greeter&) = delete;

  std::unique_ptr<Transport> connect() const {
    auto transport = connect_tcp("127.0.0.1", port_);
    REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
    transport.value()->set_receive_timeout(std::chrono::seconds(20));
    return std::move(transport.value());
  }

 private:
  void greet(server::HandshakenClient& client) {
    final_frames_.refuse(client, {ErrorCode::busy, "hello " + rpc::decode<rpc::Open>(client.body).value().client});
  }

  std::uint16_t port_ = 0;
  server::SecretMemory secrets_;
  server::EventLoop loop_;
  server::FinalFrames final_frames_;
  server::Acceptor acceptor_;
  std::thread thread_;
};

// Sends open and returns the answer.
Status open_session(std::unique_ptr<Transport> transport, bool with_preamble) {
  rpc::Connection connection(std::move(transport));
  if (with_preamble) connection.put_preamble_before_first_frame({});
  rpc::Open open;
  open.client = "ferry";
  FERRY_TRY(connection.send_request(1, open));
  FERRY_ASSIGN(const rpc::Frame frame, connection.receive_frame());
  return rpc::failure_of(frame);
}

struct Keyed {
  KeyFiles files;
  secure::Key key = files.add("k.key");
  server::KeyRing keys = server::KeyRing::open(files.path("k.key")).value();
};

Status open_with(const Greeter& greeter, const secure::Key& key) {
  FERRY_ASSIGN(auto transport, secure::encrypt_connection(greeter.connect(), key, std::chrono::seconds(20)));
  return open_session(std::move(transport), false);
}

TEST_CASE("a client that holds a key is admitted with its first request") {
  const Keyed keyed;
  const Greeter greeter(&keyed.keys);
  CHECK(open_with(greeter, keyed.key).message() == "hello ferry");
}

TEST_CASE("a client with another key is refused after a second, and one without a key is told so") {
  const Keyed keyed;
  const Greeter greeter(&keyed.keys);
  const Status without = open_session(greeter.connect(), true);
  CHECK(without.code() == ErrorCode::unauthenticated);
  CHECK(without.message() == "this server wants a key");
  const auto asked = Clock::now();
  CHECK(open_with(greeter, secure::make_key()).code() == ErrorCode::unauthenticated);
  CHECK(Clock::now() - asked >= std::chrono::milliseconds(990));
}

TEST_CASE("a listener without keys admits plaintext and says so to those who encrypt") {
  const Greeter greeter(nullptr);
  CHECK(open_session(greeter.connect(), true).message() == "hello ferry");
  const Status encrypted = open_with(greeter, secure::make_key());
  CHECK(encrypted.code() == ErrorCode::unsupported);
}

std::vector<std::uint8_t> relay_preamble(std::uint64_t token, rpc::RelayEnd end) {
  rpc::Preamble preamble;
  preamble.mode = rpc::PreambleMode::relay;
  preamble.relay = {token, end};
  const auto bytes = rpc::encode_preamble(preamble);
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("a listener that does not relay says so, with keys and without") {
  const Keyed keyed;
  for (const server::KeyRing* keys : {static_cast<const server::KeyRing*>(nullptr), &std::as_const(keyed.keys)}) {
    const Greeter greeter(keys);
    rpc::Connection connection(greeter.connect());
    const std::vector<std::uint8_t> preamble = relay_preamble(7, rpc::RelayEnd::client);
    const std::array<ByteSpan, 1> pieces{preamble};
    REQUIRE(connection.transport().send(pieces).is_ok());
    const auto frame = connection.receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    CHECK(rpc::failure_of(frame.value()).code() == ErrorCode::unsupported);
    CHECK(rpc::failure_of(frame.value()).message() == "this server does not relay connections");
  }
}

TEST_CASE("a listener that relays passes on the connection with its ticket, and reads nothing after the preamble") {
  SocketPair pair;
  server::SecretMemory secrets(1);
  server::EventLoop loop;
  Descriptor relayed;
  rpc::RelayTicket got;
  int ended = 0;
  server::Acceptor acceptor(loop, server::kSessionRequests, nullptr, secrets, 1,
                            {[](server::HandshakenClient) { FAIL("a relay is no client"); }, [&] { ++ended; },
                             [&](Descriptor socket, const rpc::RelayTicket& ticket) {
                               relayed = std::move(socket);
                               got = ticket;
                             }});
  std::vector<std::uint8_t> bytes = relay_preamble(0xfeedu, rpc::RelayEnd::board);
  bytes.push_back('x');
  REQUIRE(send(pair.client.number(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  acceptor.adopt(pair.server.release());
  loop.run();
  CHECK(got.token == 0xfeedu);
  CHECK(got.end == rpc::RelayEnd::board);
  CHECK(ended == 1);
  char next = 0;
  CHECK(recv(relayed.number(), &next, 1, MSG_DONTWAIT) == 1);
  CHECK(next == 'x');
}

TEST_CASE("bytes that are no preamble close the connection without an answer") {
  const Greeter greeter(nullptr);
  auto transport = greeter.connect();
  const std::vector<std::uint8_t> bytes(rpc::kPreambleBytes, 'x');
  const std::array<ByteSpan, 1> pieces{bytes};
  REQUIRE(transport->send(pieces).is_ok());
  std::array<std::uint8_t, 1> answer;
  CHECK(transport->receive(answer).message() == kPeerClosed);
}

TEST_CASE("silent connections beyond the limit drop the oldest, not the client that speaks") {
  const Greeter greeter(nullptr, 4);
  std::vector<std::unique_ptr<Transport>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(greeter.connect());
  CHECK(open_session(greeter.connect(), true).message() == "hello ferry");
  // Far sooner than the deadline of a handshake.
  const auto begin = Clock::now();
  std::array<std::uint8_t, 1> answer;
  CHECK(silent.front()->receive(answer).message() == kPeerClosed);
  CHECK(Clock::now() - begin < std::chrono::seconds(4));
}

TEST_CASE("no callback follows the end of an acceptor, although the loop still holds its handshakes") {
  SocketPair pair;
  server::SecretMemory secrets(1);
  int ended = 0;
  {
    server::EventLoop loop;
    {
      server::Acceptor acceptor(loop, server::kSessionRequests, nullptr, secrets, 1,
                                {[](server::HandshakenClient) {}, [&] { ++ended; }});
      acceptor.adopt(pair.server.release());
      CHECK(acceptor.has_handshakes());
    }
  }
  CHECK(ended == 0);
}

}  // namespace
}  // namespace ferry::test
