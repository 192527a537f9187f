// Tests of clients that end, stall or disconnect at every point of a session.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <thread>

#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

const std::vector<std::string> kOnePlace = {"--sessions", "1", "--threads", "2"};

Bytes bytes_of_frame(rpc::Tag tag, std::uint64_t id, const Bytes& body, std::uint64_t payload = 0) {
  rpc::FrameHeader header{rpc::FrameKind::request, static_cast<std::uint16_t>(tag)};
  header.request = id;
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  header.payload_bytes = payload;
  const auto head = rpc::encode_frame_header(header);
  Bytes bytes(head.begin(), head.end());
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

template <class Request>
Bytes frame_of(const Request& request, std::uint64_t id) {
  return bytes_of_frame(rpc::MessageOf<Request>::kTag, id, rpc::encode(request));
}

Bytes opening() {
  const auto preamble = rpc::encode_preamble({});
  Bytes bytes(preamble.begin(), preamble.end());
  rpc::Open open;
  open.client = "a client that breaks off";
  const Bytes frame = frame_of(open, 1);
  bytes.insert(bytes.end(), frame.begin(), frame.end());
  return bytes;
}

void send_bytes(Transport& transport, ByteSpan bytes) {
  const std::array<ByteSpan, 1> pieces{bytes};
  (void)transport.send(pieces);
}

TEST_CASE("a client that is killed at any stage of a session leaves the device free") {
  TestServer server(kOnePlace);
  const std::uint16_t port = server.port();
  const std::vector<std::function<void()>> stages = {
      [=] { connect_to(port); },
      [=] { send_bytes(*connect_to(port), ByteSpan(opening()).first(20)); },
      [=] { send_bytes(*connect_to(port), ByteSpan(opening()).first(60)); },
      [=] { send_bytes(*connect_to(port), opening()); },
      [=] { TestClient client(port); },
      [=] { TestClient(port).upload(std::vector<float>(1000)); },
      [=] {
        TestClient client(port);
        client.must(rpc::Alloc{1, 1 << 20, 0});
        send_bytes(client.connection().transport(),
                   bytes_of_frame(rpc::Tag::Write, 9, rpc::encode(rpc::Write{1, 0}), 1 << 20));
      },
      [=] {
        TestClient client(port);
        put(client, kit_file());
      },
      [=] {
        TestClient client(port);
        client.send(rpc::Call{put(client, kit_file()), "forever", {}});
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      },
      [=] {
        TestClient client(port);
        client.must(rpc::Alloc{1, 64 << 20, 0});
        client.send(rpc::Read{1, 0, 64 << 20});
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      },
      [=] {
        TestClient client(port);
        client.send(rpc::Close{});
      },
  };
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    CAPTURE(stage);
    killed_client(stages[stage]);
    check_next_session(server);
  }
  CHECK(sessions_end(server));
}

// Returns a request with at least one element in each of its lists, so that it can be truncated there too.
template <class Request>
Request example() {
  return {};
}
template <>
rpc::Open example() {
  rpc::Open open;
  open.client = "a client";
  open.devices = {"cpu"};
  return open;
}
template <>
rpc::Call example() {
  return {3, "add", {tensor(1, {4, 4}), scalar(1.5F)}};
}
template <>
rpc::Bind example() {
  return {4, 3, "add", {tensor(1, {4, 4})}};
}
template <>
rpc::Evaluate example() {
  rpc::Evaluate evaluate;
  evaluate.calls = {example<rpc::Call>()};
  evaluate.options.cores = {0};
  evaluate.options.watch = {"/proc/loadavg"};
  return evaluate;
}
template <>
rpc::ReadFiles example() {
  return {{"/proc/loadavg"}};
}

// Returns an example of every request.
std::vector<std::pair<rpc::Tag, Bytes>> example_bodies() {
  std::vector<std::pair<rpc::Tag, Bytes>> bodies;
#define FERRY_EXAMPLE(tag, Request, Reply, name, properties) \
  bodies.push_back({rpc::Tag::Request, rpc::encode(example<rpc::Request>())});
  FERRY_MESSAGES(FERRY_EXAMPLE)
#undef FERRY_EXAMPLE
  return bodies;
}

TEST_CASE("every request cut at every length ends its session and nothing else") {
  TestServer server({"--sessions", "8", "--quiet"});
  const Bytes open = opening();
  for (const auto& [tag, body] : example_bodies()) {
    const Bytes request = bytes_of_frame(tag, 2, body);
    for (std::size_t length = 0; length < request.size(); ++length) {
      auto transport = connect_to(server.port());
      Bytes bytes = open;
      bytes.insert(bytes.end(), request.begin(), request.begin() + static_cast<std::ptrdiff_t>(length));
      send_bytes(*transport, bytes);
    }
  }
  for (std::size_t length = 0; length < open.size(); ++length) {
    send_bytes(*connect_to(server.port()), ByteSpan(open).first(length));
  }
  check_next_session(server);
  CHECK(sessions_end(server));
}

TEST_CASE("every request whose body is shorter or longer than it should be is refused, and the session goes on") {
  TestServer server(kOnePlace);
  TestClient client(server.port());
  std::uint64_t id = 1000;
  for (const auto& [tag, body] : example_bodies()) {
    if (tag == rpc::Tag::GetStatus) continue;  // not a request of a session
    for (std::size_t length = 0; length <= body.size() + 1; ++length) {
      if (length == body.size()) continue;
      Bytes cut = body;
      cut.resize(length);
      CAPTURE(rpc::tag_name(static_cast<std::uint16_t>(tag)));
      CAPTURE(length);
      send_bytes(client.connection().transport(), bytes_of_frame(tag, ++id, cut));
      const auto frame = client.next_response();
      REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
      CHECK(frame.value().header.request == id);
      CHECK(rpc::failure_of(frame.value()).code() == ErrorCode::protocol_error);
    }
  }
}

TEST_CASE("a request without an id is refused as the connection's last, in a session and as the first") {
  TestServer server(kOnePlace);
  {
    TestClient client(server.port());
    send_bytes(client.connection().transport(), bytes_of_frame(rpc::Tag::Ping, 0, {}));
    const auto frame = client.next_response();
    REQUIRE(frame.is_ok());
    CHECK(frame.value().header.request == 0);
    CHECK(rpc::failure_of(frame.value()).code() == ErrorCode::protocol_error);
    CHECK_FALSE(client.next_response().is_ok());
  }
  Bytes first = opening();
  std::fill_n(first.begin() + static_cast<std::ptrdiff_t>(rpc::kPreambleBytes) + 8, 8, std::uint8_t{0});
  rpc::Connection connection(connect_to(server.port()));
  send_bytes(connection.transport(), first);
  const auto refused = connection.receive_frame();
  REQUIRE(refused.is_ok());
  CHECK(rpc::failure_of(refused.value()).code() == ErrorCode::protocol_error);
  check_next_session(server);
}

TEST_CASE("what would be longer than an answer may be is refused, and the session goes on") {
  TestServer server(kOnePlace);
  TestClient client(server.port());
  const std::vector<std::string> many(4000, "/proc/meminfo");
  const auto read = client.ask(rpc::ReadFiles{many});
  CHECK(read.status.code() == ErrorCode::resource_exhausted);
  CHECK(read.status.message().find("expected at most 1048576: ask for less at a time") != std::string::npos);
  rpc::Evaluate evaluate;
  evaluate.calls = {{put(client, kit_file()), "spin", {scalar(std::int64_t{1})}}};
  evaluate.options.repeat = 1;
  evaluate.options.watch = many;
  CHECK(client.ask(evaluate).status.code() == ErrorCode::resource_exhausted);
  CHECK(client.must(rpc::ReadFiles{{"/proc/meminfo"}}).reply.texts.size() == 1);
}

TEST_CASE("limits that no clock can tell are no limits") {
  TestServer server({"--call-deadline", "0", "--session-deadline", "0", "--idle-deadline", "0"});
  rpc::Open open;
  open.limits = {~0ULL, ~0ULL, ~0ULL};
  TestClient client(server.port(), open);
  CHECK(client.opened().limits.session_ms == ~0ULL);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    client.must(rpc::Ping{});
  }
}

TEST_CASE("somebody who reads nothing, or sends a byte a second, keeps nobody else waiting") {
  TestServer server({"--sessions", "2"});
  TestClient slow(server.port());
  slow.must(rpc::Alloc{1, 64 << 20, 0});
  for (int i = 0; i < 10; ++i) slow.send(rpc::Read{1, 0, 64 << 20});
  auto trickle = connect_to(server.port());
  const Bytes bytes = opening();
  for (std::size_t i = 0; i < 3; ++i) {
    const std::array<std::uint8_t, 1> one{bytes[i]};
    send_bytes(*trickle, one);
    check_next_session(server);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
}

}  // namespace
}  // namespace ferry::test
