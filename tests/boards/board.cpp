#include "tests/boards/board.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

using Clock = std::chrono::steady_clock;

double session_seconds(const Guest& guest, Setting setting) {
  const Bytes& file = kit_file();
  const auto begin = Clock::now();
  TestClient client = client_of(guest, setting);
  CHECK(client.ask(rpc::Call{put(client, file), "say", {}}).status.is_ok());
  CHECK(client.logged() == "hello from a kernel");
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

const Guest* board() {
  static const bool possible = Guest::is_possible(server_arch());
  if (!possible) return nullptr;
  static const Guest guest(server_arch());
  return &guest;
}

bool is_brief() { return getenv("FERRY_TEST_BRIEF") != nullptr; }

bool is_left_to_long_tests() {
  if (is_brief()) MESSAGE("left to the long tests");
  return is_brief();
}

TestClient client_of(const Guest& guest, Setting setting, std::uint64_t call_ms) {
  rpc::Open open;
  open.client = "boards_test";
  open.limits.call_ms = call_ms;
  return TestClient(guest.connect(setting), open, Opening::encrypted);
}

void check_next_session(const Guest& guest, Setting setting) {
  static const double calm = session_seconds(guest, setting);
  const double limit = std::max(1.0, 3 * calm);
  // The host may be busy for a moment, so retry; a server in a bad state stays slow.
  double fastest = 1e9;
  for (int attempt = 0; attempt < 3 && fastest > limit; ++attempt) {
    fastest = std::min(fastest, session_seconds(guest, setting));
  }
  CHECK(fastest < limit);
}

void check_servers_live(const Guest& guest) {
  const std::string said = guest.console();
  INFO(said);
  CHECK(said.find("ended with status") == std::string::npos);
  CHECK(said.find("init: cannot") == std::string::npos);
}

}  // namespace ferry::test
