// Tests of access control by keys: generating, reading, adding and removing them.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "rpc/secure/client_handshake.h"
#include "rpc/transport/tcp.h"
#include "tests/unit/device-runtime/support/key_files.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

namespace fs = std::filesystem;

Result<std::unique_ptr<Transport>> enter(const TestServer& server, const secure::Key& key) {
  return secure::encrypt_connection(connect_to(server.port()), key, std::chrono::seconds(20));
}

void check_lets_in(const TestServer& server, const secure::Key& key) {
  auto transport = enter(server, key);
  REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
  TestClient client(std::move(transport.value()), Opening::encrypted);
  CHECK(client.ask(rpc::Ping{}).status.is_ok());
}

void check_refuses(const TestServer& server, const secure::Key& key) {
  const auto transport = enter(server, key);
  CHECK(transport.status().code() == ErrorCode::unauthenticated);
  CHECK(transport.status().message() == "this server does not accept that key");
}

TEST_CASE("a server makes a key when it first starts, says how to copy it, and keeps it") {
  const KeyFiles files;
  const std::string path = files.path("sub/board.key");
  {
    TestServer server({"--key-file", path});
    struct stat info{};
    REQUIRE(stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    CHECK(server.errors().find("made a key, " + path) != std::string::npos);
    CHECK(server.errors().find("scp BOARD:" + path) != std::string::npos);
    check_lets_in(server, secure::read_key_file(path).value());
  }
  const secure::Key first = secure::read_key_file(path).value();
  TestServer again({"--key-file", path});
  CHECK(again.errors().find("made a key") == std::string::npos);
  check_lets_in(again, first);
}

TEST_CASE("without --key-file the key stands in the user's own folder") {
  const KeyFiles files;
  // Only the servers use this folder: the clients of these tests hold their keys in memory.
  const std::vector<std::string> with_home = {"env", "XDG_CONFIG_HOME=" + files.folder()};
  const std::string path = files.path("ferry/server-keys/default.key");
  {
    TestServer server({}, with_home, Access::by_keys);
    CHECK(server.errors().find("made a key, " + path) != std::string::npos);
    check_lets_in(server, secure::read_key_file(path).value());
  }
  const secure::Key kept = secure::read_key_file(path).value();
  TestServer again({}, with_home, Access::by_keys);
  CHECK(again.errors().find("made a key") == std::string::npos);
  check_lets_in(again, kept);
}

TEST_CASE("a key in the folder lets in until it is deleted, and a new one does at once") {
  const KeyFiles files;
  const secure::Key laptop = files.add("laptop.key"), nightly = files.add("nightly.key");
  TestServer server({"--key-file", files.folder()});
  check_lets_in(server, laptop);
  check_lets_in(server, nightly);
  REQUIRE(unlink(files.path("laptop.key").c_str()) == 0);
  check_refuses(server, laptop);
  check_lets_in(server, nightly);
  check_lets_in(server, files.add("colleague.key"));
}

TEST_CASE("an unknown key and a wrong one look the same from outside, and take the same second") {
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  TestServer server({"--key-file", files.path("k.key")});
  const secure::Key unknown = secure::make_key();
  // The right key id followed by other bytes: what an attacker who has eavesdropped can send.
  const auto timed = [&](const rpc::Preamble& preamble, const secure::Key& with, Status& status) {
    const auto begin = std::chrono::steady_clock::now();
    auto transport = connect_to(server.port());
    const auto prologue = rpc::encode_preamble(preamble);
    secure::NoiseHandshake noise(secure::Role::initiator, prologue, with.bytes);
    const Bytes message = noise.write_message().value();
    const std::array<std::uint8_t, 2> length{secure::kHandshakeBytes, 0};
    const std::array<ByteSpan, 3> pieces{prologue, length, message};
    REQUIRE(transport->send(pieces).is_ok());
    rpc::Connection connection(std::move(transport));
    const auto frame = connection.receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    status = rpc::failure_of(frame.value());
    return std::chrono::steady_clock::now() - begin;
  };
  rpc::Preamble preamble;
  preamble.mode = rpc::PreambleMode::encrypted;
  Status for_wrong, for_unknown;
  preamble.key_id = key.id();
  const auto wrong = timed(preamble, unknown, for_wrong);
  preamble.key_id = unknown.id();
  const auto not_there = timed(preamble, unknown, for_unknown);
  CHECK(for_wrong.code() == ErrorCode::unauthenticated);
  CHECK(for_wrong.message() == for_unknown.message());
  CHECK(wrong >= std::chrono::milliseconds(990));
  CHECK(not_there >= std::chrono::milliseconds(990));
}

TEST_CASE("wrong keys cost those who try them time, and nobody else") {
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  TestServer server({"--key-file", files.path("k.key")});
  std::vector<std::unique_ptr<Transport>> strangers;
  for (int i = 0; i < 100; ++i) {
    auto transport = connect_to(server.port());
    rpc::Preamble preamble;
    preamble.mode = rpc::PreambleMode::encrypted;
    preamble.key_id = key.id();
    const Bytes guess(2 + secure::kHandshakeBytes, secure::kHandshakeBytes);
    const auto prologue = rpc::encode_preamble(preamble);
    Bytes message(guess);
    message[1] = 0;
    const std::array<ByteSpan, 2> pieces{prologue, message};
    REQUIRE(transport->send(pieces).is_ok());
    strangers.push_back(std::move(transport));
  }
  check_lets_in(server, key);
}

TEST_CASE("more silent connections than the server holds give way to those who speak") {
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  TestServer server({"--key-file", files.path("k.key")});
  std::vector<std::unique_ptr<Transport>> silent;
  for (int i = 0; i < 700; ++i) silent.push_back(connect_to(server.port()));
  check_lets_in(server, key);
}

TEST_CASE("a client without a key is told that one is wanted, and one with a key that none is used") {
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  TestServer with_keys({"--key-file", files.path("k.key")});
  rpc::Connection connection(connect_to(with_keys.port()));
  connection.put_preamble_before_first_frame({});
  CHECK(connection.send_request(1, rpc::Open{}).is_ok());
  const auto frame = connection.receive_frame();
  REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
  CHECK(frame.value().header.request == 0);
  CHECK(rpc::failure_of(frame.value()).code() == ErrorCode::unauthenticated);
  CHECK(rpc::failure_of(frame.value()).message() == "this server wants a key");
  TestServer without;
  const auto refused = enter(without, key);
  CHECK(refused.status().code() == ErrorCode::unsupported);
  CHECK(refused.status().message().find("plaintext://") != std::string::npos);
}

TEST_CASE("a server that can neither read nor make its key does not start") {
  const KeyFiles files;
  files.add("k.key");
  const auto refusal = [](const std::string& path) {
    const ProcessResult result = run_server_program({"--port", "0", "--key-file", path});
    CHECK(result.exit_code == 1);
    CHECK(result.output.empty());
    return result.errors;
  };
  CHECK(refusal("/proc/nowhere/k.key").find("cannot make the key file /proc/nowhere/k.key: ") != std::string::npos);
  REQUIRE(chmod(files.path("k.key").c_str(), 0640) == 0);
  CHECK(refusal(files.path("k.key")).find("others may read or change it (mode 640)") != std::string::npos);
  CHECK(refusal(files.folder()).find(files.path("k.key") + ": others may read") != std::string::npos);
  REQUIRE(chmod(files.path("k.key").c_str(), 0600) == 0);
  REQUIRE(truncate(files.path("k.key").c_str(), 20) == 0);
  CHECK(refusal(files.path("k.key")).find("expected a line 'ferry-key-1:' and 64 digits, got none") !=
        std::string::npos);
  REQUIRE(unlink(files.path("k.key").c_str()) == 0);
  REQUIRE(chmod(files.folder().c_str(), 0770) == 0);
  CHECK(refusal(files.folder()).find("others may put keys there (mode 770)") != std::string::npos);
}

TEST_CASE("a crash is told through the encryption") {
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  TestServer server({"--key-file", files.path("k.key")});
  auto transport = enter(server, key);
  REQUIRE(transport.is_ok());
  TestClient client(std::move(transport.value()), Opening::encrypted);
  const rpc::Handle module = put(client, kit_file());
  const std::vector<float> numbers(100'000, 1.5f);
  CHECK(client.download<float>(client.upload(numbers), numbers.size()) == numbers);
  const auto crashed = client.ask(rpc::Call{module, "null_pointer", {}});
  CHECK(crashed.status.code() == ErrorCode::kernel_crashed);
  CHECK(crashed.status.message().rfind("null_pointer: ", 0) == 0);
  CHECK(client.next_response().status().message() == kPeerClosed);
  check_lets_in(server, key);
}

TEST_CASE("requests of versions that do not fit are refused inside the encryption") {
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  TestServer server({"--key-file", files.path("k.key")});
  const auto answer = [&](std::uint32_t least, std::uint32_t most) {
    rpc::Connection connection(std::move(enter(server, key).value()));
    rpc::Open open = open_as("from another time");
    open.version_min = least;
    open.version_max = most;
    REQUIRE(connection.send_request(1, open).is_ok());
    const auto frame = connection.receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    return rpc::failure_of(frame.value());
  };
  CHECK(answer(rpc::kProtocolVersionMax + 1, 99).code() == ErrorCode::version_mismatch);
  CHECK(answer(0, 0).code() == ErrorCode::version_mismatch);
}

}  // namespace
}  // namespace ferry::test
