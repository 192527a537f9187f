// Tests of kernels that try to look faster than they are, on emulated boards: another architecture's system calls,
// confined by its own kernel.
#include <doctest/doctest.h>

#include <memory>

#include "tests/boards/board.h"
#include "tests/unit/device-runtime/support/cheat_checks.h"

namespace ferry::test {
namespace {

OpenClient opening(const Guest& guest) {
  return [&guest] { return std::make_unique<TestClient>(client_of(guest, Setting::usual)); };
}

TEST_CASE("on a board, a kernel that cheats is stopped, seen, or as slow as it is") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  const OpenClient open = opening(*guest);
  REQUIRE(isolates(open));
  check_stopped_cheats(open, [&] { check_next_session(*guest, Setting::usual); });
  check_seen_cheats(open);
  check_early_cheats(open);
  check_lying_cheats(open);
  check_copying_cheats(open);
  check_inexact_cheats(open);
  check_timed_cheats(open);
  check_breaking_cheats(open);
  check_float_mode(open);
  check_searched_memory(open);
  check_servers_live(*guest);
}

}  // namespace
}  // namespace ferry::test
