// Tests of kernels that try to look faster than they are, on emulated boards: another architecture's system calls,
// confined by its own kernel. Kernels that only compute do the same on this machine's architecture, where other tests
// measure them: here long tests alone do.
#include <doctest/doctest.h>

#include <functional>
#include <memory>

#include "tests/boards/board.h"
#include "tests/unit/device-runtime/support/cheat_checks.h"

namespace ferry::test {
namespace {

Extent extent() { return is_brief() ? Extent::brief : Extent::whole; }

// Checks the servers of the board that all tests share, if there is a kernel to boot.
void on_board(const std::function<void(const OpenClient&)>& check) {
  const Guest* const guest = board();
  if (guest == nullptr) return;
  check([guest] { return std::make_unique<TestClient>(client_of(*guest, Setting::usual)); });
  check_servers_live(*guest);
}

void in_long_tests(const std::function<void(const OpenClient&)>& check) {
  if (!is_left_to_long_tests()) on_board(check);
}

TEST_CASE("on a board, a measured kernel runs in a process of its own") {
  on_board([](const OpenClient& open) { REQUIRE(isolates(open)); });
}

TEST_CASE("on a board, a kernel that does anything but compute ends its session alone") {
  on_board([](const OpenClient& open) {
    check_stopped_cheats(open, extent(), [] { check_next_session(*board(), Setting::usual); });
  });
}

TEST_CASE("on a board, a kernel that leaves calls without their work is seen") { in_long_tests(check_seen_cheats); }

TEST_CASE("on a board, a kernel that says too early that it is done is seen, stopped, or not listened to") {
  on_board([](const OpenClient& open) { check_early_cheats(open, extent()); });
}

TEST_CASE("on a board, a kernel that runs on when it has said that it is done is stopped") {
  on_board(check_lying_cheats);
}

TEST_CASE("on a board, a kernel that keeps results has wrong ones, or gains nothing by them") {
  in_long_tests(check_copying_cheats);
}

TEST_CASE("on a board, a kernel that is inexact where nobody looks is looked at there") {
  in_long_tests(check_inexact_cheats);
}

TEST_CASE("on a board, a kernel that is right for one size is called with others too") {
  in_long_tests(check_size_cheats);
}

TEST_CASE("on a board, a kernel that changes what looks like a time is as slow as it is") {
  on_board([](const OpenClient& open) { check_timed_cheats(open, extent()); });
}

TEST_CASE("on a board, a kernel that breaks what calls it gains nothing by it") {
  on_board([](const OpenClient& open) { check_breaking_cheats(open, extent()); });
}

TEST_CASE("on a board, a kernel that changes how numbers are rounded does so for itself alone") {
  on_board(check_float_mode);
}

TEST_CASE("on a board, a kernel that searches its memory finds no secret there") { on_board(check_searched_memory); }

}  // namespace
}  // namespace ferry::test
