// Tests of more connections than a process may have descriptors: clients with a key are nevertheless admitted.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "rpc/secure/client_handshake.h"
#include "rpc/secure/record.h"
#include "tests/unit/device-runtime/support/key_files.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

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
    auto transport = secure::encrypt_connection(connect_to(server.port()), key, std::chrono::seconds(20));
    REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
    TestClient client(std::move(transport.value()), Opening::encrypted);
    CHECK(client.ask(rpc::Ping{}).status.is_ok());
    most = std::max(most, descriptors_of(server));
    // After this pause, the second that the server waits before it refuses a wrong key is over for the first of them.
    if (round % 4 == 3) usleep(400'000);
  }
  CHECK(most < kDescriptors);
}

}  // namespace
}  // namespace ferry::test
