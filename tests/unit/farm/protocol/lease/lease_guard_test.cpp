// Tests which lease a board serves, and for how long.
#include "farm/protocol/lease/lease_guard.h"

#include <doctest/doctest.h>

namespace ferry::test {
namespace {

using lease::AdmitResult;
using lease::Announcement;
using lease::BootTime;
using lease::LeaseGuard;
using lease::LeaseKey;
using std::chrono::seconds;

BootTime at(int second) { return BootTime(seconds(second)); }

Announcement announcement(std::uint64_t lease, lease::Epoch epoch, int end, std::uint32_t extension = 0) {
  return {{lease, epoch}, extension, at(end)};
}

// A guard whose ceiling is high enough for the epochs of a test.
LeaseGuard with_ceiling_on_disk() {
  LeaseGuard guard(0);
  guard.announce(announcement(1, 1, 10), at(0));
  guard.ceiling_written(1025);
  guard.withdraw({1, 1});
  return guard;
}

TEST_CASE("an epoch above which no ceiling fits is refused, and the ceiling stays") {
  LeaseGuard guard = with_ceiling_on_disk();
  for (const lease::Epoch epoch : {lease::kMaxEpoch + 1, ~lease::Epoch{0}}) {
    const auto effects = guard.announce(announcement(7, epoch, 100), at(0));
    CHECK(effects.refused == LeaseKey{7, epoch});
    CHECK(effects.write_ceiling == 0);
    CHECK(!effects.acknowledged);
  }
  CHECK(guard.announce(announcement(8, lease::kMaxEpoch, 100), at(0)).write_ceiling == ~lease::Epoch{0});
}

TEST_CASE("a lease is acknowledged only once the ceiling above its epoch is on disk") {
  LeaseGuard guard(5);
  const auto effects = guard.announce(announcement(7, 6, 100), at(0));
  CHECK(effects.write_ceiling == 6 + lease::kEpochsAhead);
  CHECK(!effects.acknowledged);
  CHECK(guard.admit({7, 6}, at(1)) == AdmitResult::no_lease);
  CHECK(!guard.serving());
  const auto written = guard.ceiling_written(6 + lease::kEpochsAhead);
  REQUIRE(written.acknowledged);
  CHECK(written.acknowledged->key == LeaseKey{7, 6});
  CHECK(guard.admit({7, 6}, at(1)) == AdmitResult::admitted);
}

TEST_CASE("1024 further leases need no write") {
  LeaseGuard guard(0);
  int writes = 0;
  for (lease::Epoch epoch = 1; epoch <= 1025; ++epoch) {
    const auto effects = guard.announce(announcement(epoch, epoch, 100), at(0));
    if (effects.write_ceiling == 0) continue;
    ++writes;
    guard.ceiling_written(effects.write_ceiling);
  }
  CHECK(writes == 1);
  CHECK(guard.announce(announcement(1026, 1026, 100), at(0)).write_ceiling == 2050);
}

TEST_CASE("a restarted board serves nobody and refuses every epoch that it may have seen") {
  LeaseGuard guard(1025);
  CHECK(!guard.serving());
  CHECK(guard.admit({1, 1}, at(0)) == AdmitResult::no_lease);
  CHECK(guard.announce(announcement(2, 2, 100), at(0)).refused == LeaseKey{2, 2});
  CHECK(guard.announce(announcement(2, 1025, 100), at(0)).refused == LeaseKey{2, 1025});
  CHECK(!guard.announce(announcement(2, 1026, 100), at(0)).refused);
}

TEST_CASE("a lease that supersedes another is acknowledged after the other's session has ended") {
  LeaseGuard guard = with_ceiling_on_disk();
  guard.announce(announcement(2, 2, 100), at(0));
  REQUIRE(guard.admit({2, 2}, at(1)) == AdmitResult::admitted);
  const auto effects = guard.announce(announcement(3, 3, 200), at(2));
  CHECK(effects.end_session);
  CHECK(effects.over == LeaseKey{2, 2});
  CHECK(!effects.acknowledged);
  CHECK(guard.admit({3, 3}, at(2)) == AdmitResult::no_lease);
  CHECK(guard.session_ended().acknowledged->key == LeaseKey{3, 3});
  CHECK(guard.admit({2, 2}, at(3)) == AdmitResult::other_lease);
  CHECK(guard.admit({3, 3}, at(3)) == AdmitResult::admitted);
}

TEST_CASE("sessions of a lease run one after the other") {
  LeaseGuard guard = with_ceiling_on_disk();
  guard.announce(announcement(2, 2, 100), at(0));
  CHECK(guard.admit({2, 2}, at(1)) == AdmitResult::admitted);
  CHECK(guard.admit({2, 2}, at(1)) == AdmitResult::occupied);
  guard.session_ended();
  CHECK(guard.admit({2, 2}, at(2)) == AdmitResult::admitted);
}

TEST_CASE("a lease ends in the board's own time, and then nobody is served") {
  LeaseGuard guard = with_ceiling_on_disk();
  guard.announce(announcement(2, 2, 100), at(0));
  REQUIRE(guard.admit({2, 2}, at(1)) == AdmitResult::admitted);
  CHECK(guard.end() == at(100));
  CHECK(!guard.check_end(at(99)).end_session);
  const auto effects = guard.check_end(at(100));
  CHECK(effects.end_session);
  CHECK(effects.over == LeaseKey{2, 2});
  CHECK(!guard.end());
  guard.session_ended();
  CHECK(guard.admit({2, 2}, at(101)) == AdmitResult::no_lease);
}

TEST_CASE("an announcement that arrives after the lease's end is refused") {
  LeaseGuard guard = with_ceiling_on_disk();
  CHECK(guard.announce(announcement(2, 2, 100), at(100)).refused == LeaseKey{2, 2});
  CHECK(!guard.serving());
}

TEST_CASE("an extension only lengthens, and an announcement that is repeated changes nothing") {
  LeaseGuard guard = with_ceiling_on_disk();
  guard.announce(announcement(2, 2, 100), at(0));
  CHECK(guard.announce(announcement(2, 2, 300), at(1)).acknowledged->end == at(100));
  CHECK(guard.announce(announcement(2, 2, 200, 1), at(1)).acknowledged->end == at(200));
  CHECK(guard.announce(announcement(2, 2, 150, 2), at(1)).acknowledged->end == at(200));
  CHECK(guard.announce(announcement(2, 2, 900, 1), at(1)).acknowledged->end == at(200));
}

TEST_CASE("an announcement that its withdrawal overtook is refused") {
  LeaseGuard guard = with_ceiling_on_disk();
  CHECK(!guard.withdraw({2, 2}).over);
  CHECK(guard.announce(announcement(2, 2, 100), at(0)).refused == LeaseKey{2, 2});
}

TEST_CASE("a withdrawal ends the session of its lease and no other") {
  LeaseGuard guard = with_ceiling_on_disk();
  guard.announce(announcement(2, 2, 100), at(0));
  REQUIRE(guard.admit({2, 2}, at(1)) == AdmitResult::admitted);
  CHECK(!guard.withdraw({1, 1}).end_session);
  const auto effects = guard.withdraw({2, 2});
  CHECK(effects.end_session);
  CHECK(effects.over == LeaseKey{2, 2});
}

}  // namespace
}  // namespace ferry::test
