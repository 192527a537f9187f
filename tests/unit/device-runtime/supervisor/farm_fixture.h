// A board of a farm whose tracker is the test.
#pragma once

#include <unistd.h>

#include "rpc/secure/client_handshake.h"
#include "tests/unit/device-runtime/supervisor/fake_tracker.h"
#include "tests/unit/device-runtime/support/key_files.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {

// Long enough for every test.
inline constexpr std::chrono::minutes kLong{10};

struct Farm {
  KeyFiles files;
  secure::Key key = files.add("board.key");
  FakeTracker tracker{key};

  std::vector<std::string> arguments(const std::string& trackers) const {
    return {"--farm",    trackers,           "--farm-key", files.path("board.key"),
            "--workdir", files.path("work"), "--sessions", "1"};
  }
  std::vector<std::string> arguments() const { return arguments(tracker.address()); }
};

struct FarmServer : TestServer {
  explicit FarmServer(const Farm& farm) : FarmServer(farm.arguments()) {}
  explicit FarmServer(const std::vector<std::string>& arguments, const std::vector<std::string>& wrapper = {})
      : TestServer(arguments, wrapper, Access::by_keys) {}
};

inline Result<std::unique_ptr<Transport>> enter_board(const TestServer& server, const secure::Key& key) {
  return secure::encrypt_connection(connect_to(server.port()), key, std::chrono::seconds(20));
}

inline std::unique_ptr<TestClient> open_session(const TestServer& server, const secure::Key& key) {
  auto transport = enter_board(server, key);
  REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
  return std::make_unique<TestClient>(std::move(transport.value()), Opening::encrypted);
}

inline void check_farm_refuses(const TestServer& server, const secure::Key& key) {
  CHECK(enter_board(server, key).status().code() == ErrorCode::unauthenticated);
}

// Announces a lease and waits until the board serves it.
inline void serve(JoiningBoard& board, const farm::wire::Announce& lease) {
  board.send(lease);
  const auto acknowledged = board.expect<farm::wire::Acknowledged>();
  CHECK(acknowledged.key == lease.key);
  CHECK(acknowledged.extension == lease.extension);
}

// Waits up to 2 s.
inline bool has_logged(const TestServer& server, const std::string& text) {
  for (int i = 0; i < 100 && server.errors().find(text) == std::string::npos; ++i) usleep(20'000);
  return server.errors().find(text) != std::string::npos;
}

// Waits until the client's session has ended, and returns how.
inline Status end_of(TestClient& client) {
  const auto frame = client.next_response();
  return frame.is_ok() ? rpc::failure_of(frame.value()) : frame.status();
}

}  // namespace ferry::test
