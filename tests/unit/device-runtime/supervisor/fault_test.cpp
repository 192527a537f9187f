// Tests of all kinds of faults: crashing kernels, clients that disappear or violate the protocol. After each, the
// server serves the next client.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

using rpc::FrameHeader;
using rpc::FrameKind;

Status crash(const TestServer& server, const char* function) {
  TestClient client(server.port());
  const rpc::Handle module = put(client, kit_file());
  const std::uint64_t call = client.send(rpc::Call{module, function, {}});
  // Requests sent after the crash must not suppress the client's message about it.
  for (int i = 0; i < 50; ++i) client.send(rpc::Ping{});
  const auto answer = client.receive<rpc::Call>(call);
  CHECK_FALSE(client.next_response().is_ok());
  return answer.status;
}

Bytes preamble() {
  const auto bytes = rpc::encode_preamble({});
  return {bytes.begin(), bytes.end()};
}

void append(Bytes& to, ByteSpan bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

// Returns the server's answer to these bytes: the status of a response, or the reason why there was none.
Status answer_to(const TestServer& server, const Bytes& bytes, std::uint64_t* id = nullptr) {
  auto transport = connect_to(server.port());
  const std::array<ByteSpan, 1> pieces{bytes};
  CHECK(transport->send(pieces).is_ok());
  rpc::Connection connection(std::move(transport));
  const auto frame = connection.receive_frame();
  if (!frame.is_ok()) return frame.status();
  if (id != nullptr) *id = frame.value().header.request;
  return rpc::failure_of(frame.value());
}

TEST_CASE("a kernel that dereferences null is named with its signal, and the next session works") {
  TestServer server;
  const Status status = crash(server, "null_pointer");
  CHECK(status.code() == ErrorCode::kernel_crashed);
  CHECK(status.message().rfind("null_pointer: the kernel ended the session with SIGSEGV (bad memory access) after ",
                               0) == 0);
  check_next_session(server);
}

TEST_CASE("illegal instructions and crashes inside parallel loops are reported too") {
  TestServer server({"--threads", "4"});
  CHECK(crash(server, "illegal").message().find("illegal: the kernel ended the session with SIGILL") == 0);
  CHECK(crash(server, "crash_inside").message().find("crash_inside: the kernel ended the session with SIGSEGV") == 0);
  check_next_session(server);
}

TEST_CASE("a crash does not touch other sessions") {
  TestServer server;
  TestClient other(server.port());
  const rpc::Handle buffer = other.upload(std::vector<float>{1, 2, 3});
  CHECK(crash(server, "null_pointer").code() == ErrorCode::kernel_crashed);
  CHECK(other.download<float>(buffer, 3) == std::vector<float>{1, 2, 3});
}

TEST_CASE("a session that is killed from outside while a kernel runs is reported") {
  TestServer server;
  TestClient client(server.port());
  const rpc::Handle module = put(client, kit_file());
  const std::uint64_t call = client.send(rpc::Call{module, "forever", {}});
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto sessions = only_child_of(server.process());
  REQUIRE(sessions.size() == 1);
  kill(sessions[0], SIGKILL);
  const Status status = client.receive<rpc::Call>(call).status;
  CHECK(status.code() == ErrorCode::kernel_crashed);
  CHECK(status.message().find("forever: the kernel ended the session with SIGKILL after ") == 0);
  check_next_session(server);
}

TEST_CASE("a client that vanishes while its kernel runs takes the session with it") {
  TestServer server;
  {
    TestClient client(server.port());
    const rpc::Handle module = put(client, kit_file());
    client.send(rpc::Call{module, "forever", {}});
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  CHECK(sessions_end(server));
  check_next_session(server);
}

TEST_CASE("a client that vanishes in the middle of an upload ends its session") {
  TestServer server;
  for (const bool module : {false, true}) {
    TestClient client(server.port());
    client.must(rpc::Alloc{1, 1 << 20, 0});
    const Bytes body = module ? rpc::encode(rpc::PutModule{2, {}}) : rpc::encode(rpc::Write{1, 0});
    FrameHeader header{FrameKind::request, static_cast<std::uint16_t>(module ? rpc::Tag::PutModule : rpc::Tag::Write)};
    header.request = 100;
    header.body_bytes = static_cast<std::uint32_t>(body.size());
    header.payload_bytes = 1 << 20;
    const auto head = rpc::encode_frame_header(header);
    const Bytes some(1000, 1);
    const std::array<ByteSpan, 3> pieces{head, body, some};
    CHECK(client.connection().transport().send(pieces).is_ok());
  }
  CHECK(sessions_end(server));
  check_next_session(server);
}

TEST_CASE("silent connections do not keep anybody waiting") {
  TestServer server;
  std::vector<std::unique_ptr<Transport>> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(connect_to(server.port()));
  check_next_session(server);
}

TEST_CASE("a connection that says nothing is closed after the deadline") {
  TestServer server;
  auto silent = connect_to(server.port());
  // A client that sends half of the preamble.
  auto half = connect_to(server.port());
  const Bytes bytes = preamble();
  const std::array<ByteSpan, 1> pieces{ByteSpan(bytes).first(20)};
  CHECK(half->send(pieces).is_ok());
  std::uint8_t byte[1];
  CHECK(silent->receive(byte).message() == kPeerClosed);  // within connect_to's 20 s
  CHECK(half->receive(byte).message() == kPeerClosed);
  check_next_session(server);
}

TEST_CASE("somebody who is no ferry client gets no answer") {
  TestServer server;
  const std::string text = "GET / HTTP/1.1\r\nHost: board\r\nUser-Agent: a browser\r\n\r\n";
  CHECK(answer_to(server, {text.begin(), text.end()}).code() == ErrorCode::unavailable);
  check_next_session(server);
}

TEST_CASE("a preamble that asks for what this version lacks is answered") {
  TestServer server;
  Bytes bytes = preamble();
  bytes[8] = 2;
  std::uint64_t id = 99;
  CHECK(answer_to(server, bytes, &id).code() == ErrorCode::unsupported);
  CHECK(id == 0);
  check_next_session(server);
}

TEST_CASE("a client of another version, older or newer, is told both") {
  TestServer server;
  const auto answer = [&](std::uint32_t least, std::uint32_t most) {
    rpc::Connection connection(connect_to(server.port()));
    connection.put_preamble_before_first_frame({});
    rpc::Open open = open_as("from another time");
    open.version_min = least;
    open.version_max = most;
    CHECK(connection.send_request(1, open).is_ok());
    const auto frame = connection.receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    return rpc::failure_of(frame.value());
  };
  for (const auto& [least, most] : {std::pair{8U, 9U}, std::pair{0U, 0U}}) {
    const Status status = answer(least, most);
    CHECK(status.code() == ErrorCode::version_mismatch);
    CHECK(status.message() == "this server speaks protocol versions 1 to 1, the client " + std::to_string(least) +
                                  " to " + std::to_string(most));
    check_next_session(server);
  }
}

TEST_CASE("a first request other than open or status is refused") {
  TestServer server;
  rpc::Connection connection(connect_to(server.port()));
  connection.put_preamble_before_first_frame({});
  CHECK(connection.send_request(1, rpc::Ping{}).is_ok());
  const auto frame = connection.receive_frame();
  REQUIRE(frame.is_ok());
  CHECK(rpc::failure_of(frame.value()).message() == "expected open or status as the first request");
  check_next_session(server);
}

TEST_CASE("a length of 2^63 is refused at once, in the handshake and in a session") {
  TestServer server;
  FrameHeader header{FrameKind::request, static_cast<std::uint16_t>(rpc::Tag::Write)};
  header.request = 7;
  auto head = rpc::encode_frame_header(header);
  head[23] = 0x80;  // the highest byte of the payload's length
  Bytes first = preamble();
  append(first, head);
  CHECK(answer_to(server, first).code() == ErrorCode::protocol_error);
  TestClient client(server.port());
  const std::array<ByteSpan, 1> pieces{head};
  CHECK(client.connection().transport().send(pieces).is_ok());
  const auto response = client.next_response();
  REQUIRE_MESSAGE(response.is_ok(), response.status().message());
  CHECK(response.value().header.request == 0);
  CHECK(rpc::failure_of(response.value()).code() == ErrorCode::protocol_error);
  CHECK_FALSE(client.next_response().is_ok());
  check_next_session(server);
}

TEST_CASE("unknown messages and bodies that do not decode cost one request each") {
  TestServer server;
  TestClient client(server.port());
  const Bytes payload(100'000, 3);
  FrameHeader unknown{FrameKind::request, 999};
  unknown.request = 1000;
  CHECK(client.connection().send_frame(unknown, Bytes(10, 1), payload).is_ok());
  FrameHeader malformed{FrameKind::request, static_cast<std::uint16_t>(rpc::Tag::Alloc)};
  malformed.request = 1001;
  CHECK(client.connection().send_frame(malformed, Bytes(3, 1)).is_ok());
  auto response = client.next_response();
  REQUIRE(response.is_ok());
  CHECK(response.value().header.request == 1000);
  CHECK(rpc::failure_of(response.value()).code() == ErrorCode::unsupported);
  response = client.next_response();
  REQUIRE(response.is_ok());
  CHECK(response.value().header.request == 1001);
  CHECK(rpc::failure_of(response.value()).code() == ErrorCode::protocol_error);
  CHECK(client.ask(rpc::Ping{}).status.is_ok());
  check_next_session(server);
}

TEST_CASE("random bytes after a good start end that session and nothing else") {
  TestServer server;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    TestClient client(server.port());
    Bytes noise(5000);
    fill(FillKind::random, seed, DType::u8, 0, noise.size(), noise.data());
    for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<std::uint8_t>(noise[i] * 37 + i);
    const std::array<ByteSpan, 1> pieces{noise};
    (void)client.connection().transport().send(pieces);
    while (client.next_response().is_ok()) {
    }
  }
  CHECK(sessions_end(server));
  check_next_session(server);
}

}  // namespace
}  // namespace ferry::test
