// Tests of more connections than a process may have descriptors: clients with a key are nevertheless admitted.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "device-runtime/supervisor/key_ring.h"
#include "device-runtime/supervisor/pending_connection.h"
#include "rpc/secure/client_handshake.h"
#include "rpc/secure/record.h"
#include "tests/unit/device-runtime/support/key_files.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

using Clock = std::chrono::steady_clock;

// Sends everything up to the point where the server detects a wrong key, and reads nothing of the answer.
std::unique_ptr<Transport> knock_with_wrong_key(const TestServer& server, const secure::Key& key) {
  auto transport = connect_to(server.port());
  rpc::Preamble preamble;
  preamble.mode = rpc::PreambleMode::encrypted;
  preamble.key_id = key.id();
  const auto prologue = rpc::encode_preamble(preamble);
  Bytes guess(secure::kLengthBytes + secure::kHandshakeBytes, 1);
  guess[0] = secure::kHandshakeBytes;
  guess[1] = 0;
  const std::array<ByteSpan, 2> pieces{prologue, guess};
  (void)transport->send(pieces);
  return transport;
}

std::size_t descriptors_of(const TestServer& server) {
  namespace fs = std::filesystem;
  const fs::path folder = "/proc/" + std::to_string(server.process()) + "/fd";
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_CASE("refusals under way give way like any stranger, and a client with a key gets in every time") {
  if (!is_native() || getuid() != 0) return;  // the descriptors of other servers cannot be counted
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  constexpr std::size_t kDescriptors = 300;
  TestServer server({"--key-file", files.path("k.key")},
                    {"sh", "-c", "ulimit -n " + std::to_string(kDescriptors) + "; exec \"$@\"", "sh"});
  std::vector<std::unique_ptr<Transport>> strangers;
  std::size_t most = 0;
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 60; ++i) strangers.push_back(knock_with_wrong_key(server, key));
    const auto begin = Clock::now();
    auto transport = secure::encrypt_connection(connect_to(server.port()), key, std::chrono::seconds(20));
    REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
    TestClient client(std::move(transport.value()), Opening::encrypted);
    CHECK(client.ask(rpc::Ping{}).status.is_ok());
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    CHECK(elapsed.count() < next_session_limit());
    most = std::max(most, descriptors_of(server));
    // After this pause, the second that the server waits before it refuses a wrong key is over for the first of them.
    if (round % 4 == 3) usleep(400'000);
  }
  CHECK(most < kDescriptors);
}

TEST_CASE("the oldest connection gives way, and those that are over do not count") {
  struct Pending final : device::PendingConnection {
    void abandon() override { abandoned = true; }
    bool abandoned = false;
  };
  device::PendingConnections places(3);
  std::vector<std::shared_ptr<Pending>> all;
  const auto add = [&] {
    all.push_back(std::make_shared<Pending>());
    places.add(all.back());
  };
  for (int i = 0; i < 3; ++i) add();
  all[1].reset();
  add();
  CHECK_FALSE(all[0]->abandoned);
  add();
  CHECK(all[0]->abandoned);
  CHECK_FALSE(all[2]->abandoned);
  add();
  CHECK(all[2]->abandoned);
  CHECK_FALSE(all[3]->abandoned);
  for (int i = 0; i < 3; ++i) add();
  for (std::size_t i = 3; i < 6; ++i) CHECK(all[i]->abandoned);
  for (std::size_t i = 6; i < 9; ++i) CHECK_FALSE(all[i]->abandoned);
}

TEST_CASE("as many places are given out as there are descriptors, and always some") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const auto within = [&](rlim_t most, std::size_t sessions = 8) {
    const rlimit limit{std::min(most, before.rlim_max), before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    const device::ConnectionPlaces places = device::find_connection_places(sessions, 64);
    rlimit after{};
    getrlimit(RLIMIT_NOFILE, &after);
    // A session has a connection, and a stream for what it writes to standard error.
    CHECK(places.strangers + places.final_frames + 2 * sessions + 64 < std::max<rlim_t>(after.rlim_cur, 100));
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    return places;
  };
  CHECK(within(256).strangers <= 512);
  CHECK(within(1 << 20).strangers == 512);
  CHECK(within(1 << 20).final_frames == 256);
  CHECK(within(1024, 256).strangers <= 512);
}

TEST_CASE("with no descriptor left a key is not called wrong: the client is asked to try again") {
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  for (const std::string& path : {files.folder(), files.path("k.key")}) {
    const auto ring = device::KeyRing::open(path);
    REQUIRE_MESSAGE(ring.is_ok(), ring.status().message());
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const int next = dup(0);
    close(next);
    const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto found = ring.value().find(key.id());
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(found.status().code() == ErrorCode::busy);
    CHECK(found.status().message() == "this server cannot read its keys just now; try again");
    CHECK(ring.value().find(key.id()).value().has_value());
    CHECK_FALSE(ring.value().find(secure::make_key().id()).value().has_value());
  }
}

}  // namespace
}  // namespace ferry::test
