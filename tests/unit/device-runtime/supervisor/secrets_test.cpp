// Tests that a session holds no secrets of its server but its own. Kernels search all readable memory for keys, for
// values derived from them, and for the output of other clients' kernels.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sodium/crypto_scalarmult_curve25519.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <thread>

#include "rpc/secure/secure_transport.h"
#include "tests/unit/device-runtime/support/key_files.h"
#include "tests/unit/device-runtime/support/memory_kernels.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

#if !defined(__SANITIZE_ADDRESS__)  // its shadow memory is too large to search, and it retains freed memory

// A client that knows its connection's keys.
struct KnownClient {
  std::string name;
  secure::TransportKeys keys;
  std::unique_ptr<Transport> transport;

  // Performs the handshake and makes no request.
  KnownClient(const TestServer& server, const std::string& as, const secure::Key& key, Secrets& secrets) : name(as) {
    transport = connect_to(server.port());
    rpc::Preamble preamble;
    preamble.mode = rpc::PreambleMode::encrypted;
    preamble.key_id = key.id();
    const auto prologue = rpc::encode_preamble(preamble);
    const secure::KeyBytes ephemeral = secure::make_key().bytes;
    secure::NoiseHandshake noise(secure::Role::initiator, prologue, key.bytes, ephemeral);
    const Bytes first = noise.write_message().value();
    const std::array<std::uint8_t, secure::kLengthBytes> length{secure::kHandshakeBytes, 0};
    const std::array<ByteSpan, 3> pieces{prologue, length, first};
    REQUIRE(transport->send(pieces).is_ok());
    std::array<std::uint8_t, secure::kLengthBytes + secure::kHandshakeBytes> answer;
    REQUIRE(transport->receive(answer).is_ok());
    REQUIRE(noise.read_message(ByteSpan(answer).subspan(secure::kLengthBytes)).is_ok());
    keys = noise.split();
    secure::KeyBytes shared;
    REQUIRE(crypto_scalarmult_curve25519(shared.data(), ephemeral.data(), answer.data() + secure::kLengthBytes) == 0);
    const std::string text = secure::to_file_text(key), mark = "ferry-key-1:";
    secrets.add(name + "'s key", key.bytes.data(), key.bytes.size());
    secrets.add(name + "'s key as text", text.substr(text.find(mark) + mark.size(), 64));
    secrets.add(name + "'s Diffie-Hellman secret", shared.data(), shared.size());
    secrets.add(name + "'s transport keys", keys.to_initiator.data(), keys.to_initiator.size());
    secrets.add(name + "'s transport keys", keys.to_responder.data(), keys.to_responder.size());
  }
  std::unique_ptr<rpc::Connection> connection() {
    return std::make_unique<rpc::Connection>(
        secure::secure_transport(std::move(transport), {keys.to_responder}, {keys.to_initiator}));
  }
  // Sends open and is served.
  std::unique_ptr<TestClient> enter() {
    return std::make_unique<TestClient>(
        secure::secure_transport(std::move(transport), {keys.to_responder}, {keys.to_initiator}), Opening::encrypted);
  }
  std::string own() const { return name + "'s transport keys"; }
};

void print(TestClient& client, const std::string& text) {
  const Bytes bytes(text.begin(), text.end());
  client.must(rpc::Call{put(client, memory_kernels()),
                        "print",
                        {tensor(client.upload(bytes), {static_cast<std::int64_t>(bytes.size())}, DType::u8)}});
}

// Searches two sessions for secrets: one while the server knows all other clients, and one that starts after another
// ended.
void check_two_sessions(std::vector<std::string> options) {
  const KeyFiles files;
  const secure::Key alice = files.add("alice.key"), bob = files.add("bob.key"), carol = files.add("carol.key");
  options.insert(options.end(), {"--key-file", files.folder(), "--sessions", "2"});
  TestServer server(options);
  Secrets secrets;
  const std::string words = "what alice's kernel said was meant for alice alone";
  secrets.add("what alice's kernel said", words);

  // A former client, whose kernel crashed and whose crash the server reported.
  {
    KnownClient before(server, "before", alice, secrets);
    const auto session = before.enter();
    print(*session, words);
    CHECK(session->ask(rpc::Call{put(*session, kit_file()), "null_pointer", {}}).status.code() ==
          ErrorCode::kernel_crashed);
  }
  // A client that is served, one that completed the handshake without a request, and one with a key that the server
  // does not have.
  KnownClient first(server, "first", alice, secrets);
  const auto first_session = first.enter();
  print(*first_session, words);
  KnownClient halfway(server, "halfway", carol, secrets);
  const secure::Key stranger = secure::make_key();
  secrets.add("the stranger's key", stranger.bytes.data(), stranger.bytes.size());
  KnownClient second(server, "second", bob, secrets);
  const auto second_session = second.enter();
  CHECK(secrets.found_by(*second_session) == second.own());

  // A client that waits while a place becomes free and the one ahead of it gets that place.
  KnownClient third(server, "third", bob, secrets), fourth(server, "fourth", carol, secrets);
  auto third_line = third.connection(), fourth_line = fourth.connection();
  for (rpc::Connection* line : {third_line.get(), fourth_line.get()}) {
    REQUIRE(line->send_request(1, rpc::Open{}).is_ok());
    const auto told = line->receive_frame();
    REQUIRE_MESSAGE(told.is_ok(), told.status().message());
    CHECK(told.value().header.kind == rpc::FrameKind::event);
  }
  first_session->must(rpc::Close{});
  rpc::OpenReply opened;
  while (true) {
    const auto frame = third_line->receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    if (frame.value().header.kind != rpc::FrameKind::response) continue;
    opened = rpc::decode<rpc::OpenReply>(frame.value().body).value();
    break;
  }
  TestClient third_session(std::move(third_line), 1, opened);
  CHECK(secrets.found_by(third_session) == third.own());
}

TEST_CASE("a session holds no secret but its own transport keys, and nothing that another one's kernel said") {
  check_two_sessions({});
}

TEST_CASE("the same for sessions of another user") {
  if (!is_native() || getuid() != 0) return;
  check_two_sessions({"--user", "nobody"});
}

TEST_CASE("a key that the server made itself is in no session") {
  const KeyFiles files;
  const std::string path = files.path("made.key");
  TestServer server({"--key-file", path});
  Secrets secrets;
  KnownClient client(server, "the first", secure::read_key_file(path).value(), secrets);
  CHECK(secrets.found_by(*client.enter()) == client.own());
}

TEST_CASE("without keys, a session does not see what another one's kernel says") {
  TestServer server({"--sessions", "2"});
  TestClient first(server.port());
  const std::string words = "what the first one's kernel said is here";
  print(first, words);
  TestClient third(server.port());
  Secrets secrets;
  secrets.add("words", words);
  CHECK(secrets.found_by(first) == "words");
  CHECK(secrets.found_by(third).empty());
}

TEST_CASE("a session shares one piece of memory with the server, and none with another session") {
  if (!is_native() || getuid() != 0) return;  // only root may inspect the memory of sessions
  TestServer server({"--sessions", "4"});
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<TestClient>(server.port()));
  std::vector<std::string> all;
  for (const pid_t session : children_of(server.process())) {
    std::ifstream maps("/proc/" + std::to_string(session) + "/maps");
    std::string before, line, shared, after;
    for (; std::getline(maps, line); before = line) {
      if (before == shared && !shared.empty()) after = line;
      if (line.find(" rw-s ") == std::string::npos) continue;
      CHECK(shared.empty());
      CHECK(before.find(" ---p ") != std::string::npos);
      shared = line;
    }
    CHECK(after.find(" ---p ") != std::string::npos);
    CHECK(std::find(all.begin(), all.end(), shared) == all.end());
    all.push_back(shared);
  }
  CHECK(all.size() == 4);
}

TEST_CASE("a session cannot open the memory of another one of the same user") {
  if (!is_native()) return;
  for (const bool as_nobody : {false, true}) {
    if (as_nobody && getuid() != 0) continue;
    TestServer server(as_nobody ? std::vector<std::string>{"--user", "nobody"} : std::vector<std::string>{});
    TestClient first(server.port());
    const auto other = children_of(server.process());
    REQUIRE(other.size() == 1);
    TestClient second(server.port());
    SystemCaller call(second);
    for (const int mode : {O_RDONLY, O_RDWR}) {
      CHECK(call(SYS_openat, {AT_FDCWD, SystemCaller::kText, mode}, "/proc/" + std::to_string(other[0]) + "/mem") < 0);
    }
  }
}

#endif

}  // namespace
}  // namespace ferry::test
