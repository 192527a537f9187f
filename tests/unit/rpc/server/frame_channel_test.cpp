// Tests frames over an encrypted connection on a loop, from dialing a listener to every way in which it may end.
#include "rpc/server/frame_channel.h"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "rpc/secure/secure_transport.h"
#include "rpc/server/acceptor.h"
#include "rpc/server/dial.h"
#include "rpc/server/key_source.h"
#include "rpc/server/listen.h"
#include "rpc/wire/connection.h"
#include "tests/unit/rpc/server/socket_pair.h"

namespace ferry::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr server::FrameChannel::Limits kLimits{1000, 100'000};

Bytes frame_of(std::uint16_t tag, const Bytes& body) { return rpc::whole_frame({rpc::FrameKind::event, tag}, body); }

// A channel on one end of a socket pair; the test holds the other end.
struct ChannelFixture final : server::FrameChannel::Owner {
  ChannelFixture() {
    server::SecretMemory::Pointer secure = secrets.make();
    secure::fill_with_random(secure->sending.key);
    secure::fill_with_random(secure->receiving.key);
    const secure::KeyBytes to_peer = secure->sending.key, from_peer = secure->receiving.key;
    peer = std::make_unique<rpc::Connection>(secure::secure_transport(pair.transport(), {from_peer, 0}, {to_peer, 0}));
    channel = server::FrameChannel::start(loop, std::move(pair.server), std::move(secure), kLimits, *this);
  }
  ~ChannelFixture() override { channel->close(); }

  void on_frame(const rpc::FrameHeader& header, std::span<const std::uint8_t> body) override {
    tags.push_back(header.tag);
    bodies.emplace_back(body.begin(), body.end());
    if (then) then();
  }
  void on_end(const Status& why) override {
    end = why;
    ++ends;
  }
  void send_raw(const Bytes& bytes) {
    const std::array<ByteSpan, 1> pieces{bytes};
    REQUIRE(peer->transport().send(pieces).is_ok());
  }
  // Runs the loop until `done`, at most 5 s.
  void run_until(const std::function<bool()>& done) {
    for (int i = 0; i < 500 && !done(); ++i) loop.context().run_for(std::chrono::milliseconds(10));
    CHECK(done());
  }

  SocketPair pair;
  server::SecretMemory secrets{4};
  server::EventLoop loop;
  std::unique_ptr<rpc::Connection> peer;
  std::shared_ptr<server::FrameChannel> channel;
  std::vector<std::uint16_t> tags;
  std::vector<Bytes> bodies;
  std::function<void()> then;
  Status end;
  int ends = 0;
};

TEST_CASE("frames arrive whole and in order, however they are divided") {
  ChannelFixture fixture;
  Bytes bytes = frame_of(80, {});
  const Bytes second = frame_of(81, {1, 2, 3}), third = frame_of(82, Bytes(1000, 7));
  bytes.insert(bytes.end(), second.begin(), second.end());
  bytes.insert(bytes.end(), third.begin(), third.end());
  fixture.send_raw(bytes);
  for (const std::uint8_t byte : bytes) {
    fixture.send_raw({byte});
    fixture.loop.context().poll();
  }
  fixture.run_until([&] { return fixture.tags.size() == 6; });
  CHECK(fixture.tags == std::vector<std::uint16_t>{80, 81, 82, 80, 81, 82});
  CHECK(fixture.bodies[1] == Bytes{1, 2, 3});
  CHECK(fixture.bodies[5] == Bytes(1000, 7));
  fixture.channel->send(frame_of(90, {9}));
  const auto answer = fixture.peer->receive_frame();
  REQUIRE(answer.is_ok());
  CHECK(answer.value().header.tag == 90);
  CHECK(fixture.ends == 0);
}

TEST_CASE("a frame with a payload, a long body or a wrong magic ends the channel once") {
  for (const rpc::FrameHeader& header : {rpc::FrameHeader{rpc::FrameKind::event, 80, ErrorCode::ok, 0, 0, 1},
                                         rpc::FrameHeader{rpc::FrameKind::event, 80, ErrorCode::ok, 0, 1001, 0}}) {
    ChannelFixture fixture;
    const auto bytes = rpc::encode_frame_header(header);
    fixture.send_raw({bytes.begin(), bytes.end()});
    fixture.run_until([&] { return fixture.ends == 1; });
    CHECK(fixture.end.code() == ErrorCode::protocol_error);
    CHECK(fixture.tags.empty());
    fixture.channel->send(frame_of(90, {}));
    CHECK(fixture.ends == 1);
  }
  ChannelFixture fixture;
  fixture.send_raw(Bytes(32, 'x'));
  fixture.run_until([&] { return fixture.ends == 1; });
  CHECK(fixture.end.code() == ErrorCode::protocol_error);
}

TEST_CASE("the end of the other end is told") {
  ChannelFixture fixture;
  fixture.peer.reset();
  fixture.run_until([&] { return fixture.ends == 1; });
  CHECK(fixture.end.code() == ErrorCode::unavailable);
}

TEST_CASE("a peer that does not read is dropped before its queue grows beyond the limit") {
  ChannelFixture fixture;
  const Bytes frame = frame_of(90, Bytes(1000, 1));
  int sent = 0;
  for (; fixture.ends == 0 && sent < 100'000; ++sent) fixture.channel->send(frame);
  CHECK(fixture.end.code() == ErrorCode::resource_exhausted);
  CHECK(sent > 50);
}

TEST_CASE("what waits is sent once the peer reads again") {
  ChannelFixture fixture;
  const Bytes frame = frame_of(90, Bytes(1000, 1));
  // The socket's buffer takes some of these, and the queue the rest.
  for (int i = 0; i < 90; ++i) fixture.channel->send(frame);
  std::thread reader([&] {
    for (int i = 0; i < 90; ++i) CHECK(fixture.peer->receive_frame().is_ok());
    fixture.send_raw(frame_of(80, {}));
  });
  fixture.run_until([&] { return !fixture.tags.empty(); });
  reader.join();
  CHECK(fixture.ends == 0);
}

TEST_CASE("an owner may close the channel while it handles a frame") {
  ChannelFixture fixture;
  fixture.then = [&] { fixture.channel->close(); };
  Bytes bytes = frame_of(80, {1});
  const Bytes second = frame_of(81, {});
  bytes.insert(bytes.end(), second.begin(), second.end());
  fixture.send_raw(bytes);
  fixture.run_until([&] { return !fixture.channel->is_open(); });
  fixture.loop.context().run_for(std::chrono::milliseconds(20));
  CHECK(fixture.tags == std::vector<std::uint16_t>{80});
  CHECK(fixture.ends == 0);
}

// A listener and a dialer on one loop.
struct DialFixture final : server::Dialer, server::KeySource {
  DialFixture() {
    auto listener = server::listen_at("127.0.0.1", 0, 0, true);
    REQUIRE(listener.is_ok());
    const std::string name = server::own_name(listener.value().number());
    address = server::parse_socket_address("127.0.0.1", "--farm").value();
    address.set_port(static_cast<std::uint16_t>(std::stoi(name.substr(name.find(':') + 1))));
    acceptor.listen(listener.value().release());
  }
  Result<std::optional<secure::Key>> find(const secure::KeyId& id) const override {
    return id == known.id() ? std::optional(known) : std::nullopt;
  }
  Result<secure::Key> read_key() override { return held; }
  void on_dialed(Result<server::DialedConnection> connection) override {
    outcome = connection.status();
    if (connection.is_ok()) dialed.emplace(std::move(connection.value()));
    ++outcomes;
  }
  void run_until(const std::function<bool()>& done) {
    for (int i = 0; i < 500 && !done(); ++i) loop.context().run_for(std::chrono::milliseconds(10));
    CHECK(done());
  }

  secure::Key known = secure::make_key(), held = known;
  server::SecretMemory secrets{4};
  server::EventLoop loop;
  std::optional<server::HandshakenClient> client;
  server::Acceptor acceptor{
      loop, server::kSessionRequests,
      this, secrets,
      4,    {[this](server::HandshakenClient admitted) { client.emplace(std::move(admitted)); }, {}}};
  server::SocketAddress address;
  Status outcome;
  std::optional<server::DialedConnection> dialed;
  int outcomes = 0;
};

struct SilentOwner final : server::FrameChannel::Owner {
  void on_frame(const rpc::FrameHeader&, std::span<const std::uint8_t>) override {}
  void on_end(const Status&) override {}
};

TEST_CASE("who dials with a known key is admitted with its first request, and the server knows which key it was") {
  DialFixture fixture;
  server::dial(fixture.loop, fixture.address, fixture.secrets, std::chrono::seconds(5), fixture);
  fixture.run_until([&] { return fixture.outcomes == 1; });
  REQUIRE(fixture.dialed);
  SilentOwner owner;
  const auto channel = server::FrameChannel::start(fixture.loop, std::move(fixture.dialed->socket),
                                                   std::move(fixture.dialed->secure), kLimits, owner);
  rpc::Open open;
  open.client = "a board";
  channel->send(rpc::whole_frame(
      {rpc::FrameKind::request, static_cast<std::uint16_t>(rpc::Tag::Open), ErrorCode::ok, 1}, rpc::encode(open)));
  fixture.run_until([&] { return fixture.client.has_value(); });
  CHECK(rpc::decode<rpc::Open>(fixture.client->body).value().client == "a board");
  CHECK(fixture.client->key_id == fixture.known.id());
  channel->close();
}

TEST_CASE("frames over TCP do not wait for the acknowledgement of those before") {
  DialFixture fixture;
  server::dial(fixture.loop, fixture.address, fixture.secrets, std::chrono::seconds(5), fixture);
  fixture.run_until([&] { return fixture.outcomes == 1; });
  REQUIRE(fixture.dialed);
  SilentOwner owner;
  const auto channel = server::FrameChannel::start(fixture.loop, std::move(fixture.dialed->socket),
                                                   std::move(fixture.dialed->secure), kLimits, owner);
  int is_on = 0;
  socklen_t length = sizeof is_on;
  REQUIRE(getsockopt(channel->socket(), IPPROTO_TCP, TCP_NODELAY, &is_on, &length) == 0);
  CHECK(is_on != 0);
  channel->close();
}

TEST_CASE("who dials with another key, or finds nobody, is told so") {
  DialFixture fixture;
  fixture.held = secure::make_key();
  server::dial(fixture.loop, fixture.address, fixture.secrets, std::chrono::seconds(5), fixture);
  fixture.run_until([&] { return fixture.outcomes == 1; });
  CHECK(fixture.outcome.code() == ErrorCode::unauthenticated);
  fixture.acceptor.stop_listening();
  server::dial(fixture.loop, fixture.address, fixture.secrets, std::chrono::seconds(5), fixture);
  fixture.run_until([&] { return fixture.outcomes == 2; });
  CHECK(fixture.outcome.code() == ErrorCode::unavailable);
  CHECK_FALSE(fixture.dialed);
}

TEST_CASE("an attempt that is abandoned calls nobody, and a silent listener ends it in time") {
  DialFixture fixture;
  auto silent = server::listen_at("127.0.0.1", 0, 0, true);
  REQUIRE(silent.is_ok());
  const std::string name = server::own_name(silent.value().number());
  fixture.address.set_port(static_cast<std::uint16_t>(std::stoi(name.substr(name.find(':') + 1))));
  const auto dial = [&](std::chrono::milliseconds timeout) {
    return server::dial(fixture.loop, fixture.address, fixture.secrets, timeout, fixture);
  };
  dial(std::chrono::milliseconds(50)).lock()->abandon();
  fixture.loop.context().run_for(std::chrono::milliseconds(100));
  CHECK(fixture.outcomes == 0);
  dial(std::chrono::milliseconds(50));
  fixture.run_until([&] { return fixture.outcomes == 1; });
  CHECK(fixture.outcome.message() == "it does not answer");
}

}  // namespace
}  // namespace ferry::test
