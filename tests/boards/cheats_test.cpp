// Tests of kernels that try to look faster than they are, on emulated boards: another architecture's system calls,
// confined by its own kernel. Kernels that only compute do the same on this machine's architecture, where other tests
// measure them: here long tests alone do.
#include <doctest/doctest.h>

#include <memory>

#include "tests/boards/board.h"
#include "tests/unit/device-runtime/support/cheat_checks.h"

namespace ferry::test {
namespace {

OpenClient clients_of(const Guest& guest) {
  return [&guest] { return std::make_unique<TestClient>(client_of(guest, Setting::usual)); };
}

Extent extent() { return is_brief() ? Extent::brief : Extent::whole; }

TEST_CASE("on a board, a measured kernel runs in a process of its own") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  REQUIRE(isolates(clients_of(*guest)));
  check_servers_live(*guest);
}

TEST_CASE("on a board, a kernel that does anything but compute ends its session alone") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  check_stopped_cheats(clients_of(*guest), extent(), [&] { check_next_session(*guest, Setting::usual); });
  check_servers_live(*guest);
}

TEST_CASE("on a board, a kernel that leaves calls without their work is seen") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  if (is_left_to_long_tests()) return;
  check_seen_cheats(clients_of(*guest));
  check_servers_live(*guest);
}

TEST_CASE("on a board, a kernel that says too early that it is done is seen, stopped, or not listened to") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  check_early_cheats(clients_of(*guest), extent());
  check_servers_live(*guest);
}

TEST_CASE("on a board, a kernel that runs on when it has said that it is done is stopped") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  check_lying_cheats(clients_of(*guest));
  check_servers_live(*guest);
}

TEST_CASE("on a board, a kernel that keeps results has wrong ones, or gains nothing by them") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  if (is_left_to_long_tests()) return;
  check_copying_cheats(clients_of(*guest));
  check_servers_live(*guest);
}

TEST_CASE("on a board, a kernel that is inexact where nobody looks is looked at there") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  if (is_left_to_long_tests()) return;
  check_inexact_cheats(clients_of(*guest));
  check_servers_live(*guest);
}

TEST_CASE("on a board, a kernel that is right for one size is called with others too") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  if (is_left_to_long_tests()) return;
  check_size_cheats(clients_of(*guest));
  check_servers_live(*guest);
}

TEST_CASE("on a board, a kernel that changes what looks like a time is as slow as it is") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  check_timed_cheats(clients_of(*guest), extent());
  check_servers_live(*guest);
}

TEST_CASE("on a board, a kernel that breaks what calls it gains nothing by it") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  check_breaking_cheats(clients_of(*guest), extent());
  check_servers_live(*guest);
}

TEST_CASE("on a board, a kernel that changes how numbers are rounded does so for itself alone") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  check_float_mode(clients_of(*guest));
  check_servers_live(*guest);
}

TEST_CASE("on a board, a kernel that searches its memory finds no secret there") {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  check_searched_memory(clients_of(*guest));
  check_servers_live(*guest);
}

}  // namespace
}  // namespace ferry::test
