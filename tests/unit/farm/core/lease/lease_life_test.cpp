// Tests the life of a lease: in which order it takes effect, how it is extended and how it ends.
#include <doctest/doctest.h>

#include "tests/unit/farm/core/lease/machine_driver.h"

namespace ferry::test {
namespace {

// A farm of boards b1 to b`count`, all good and free.
struct Farm : MachineDriver {
  explicit Farm(std::uint64_t count) {
    for (std::uint64_t number = 1; number <= count; ++number) {
      enrol(number);
      join(number);
    }
  }
};

TEST_CASE("a lease is committed, then announced, then acknowledged, then its client hears of it") {
  Farm farm(1);
  farm.persists = farm.acknowledges = false;
  farm.submit(1, "ann");
  CHECK(farm.store.leases().contains(lease_id(1)));
  CHECK(farm.sent<farm::AnnounceLease>().empty());
  farm.persist();
  REQUIRE(farm.sent<farm::AnnounceLease>().size() == 1);
  CHECK(!farm.is_granted(1));
  const lease::LeaseKey key = farm.sent<farm::AnnounceLease>()[0].announcement.key;
  farm.handle(farm::BoardAcknowledged{board_link(1), key, 0});
  CHECK(farm.is_granted(1));
  CHECK(farm.granted.at(lease_id(1)).parts[0].epoch == key.epoch);
}

TEST_CASE("the end is stated in the board's time: that of its last heartbeat plus the remainder, less 0.1%") {
  Farm farm(1);
  farm.pass(seconds(1000));
  farm.handle(farm::BoardHeartbeat{board_link(1), lease::BootTime(seconds(77)), {}, false, 0});
  farm.now += seconds(2);
  farm.submit(1, "ann");
  // The lease ends 602 s after the heartbeat arrived.
  const auto announcement = farm.sent<farm::AnnounceLease>()[0].announcement;
  CHECK(announcement.end == lease::BootTime(seconds(77) + seconds(602) - std::chrono::milliseconds(602 + 1)));
}

TEST_CASE("each lease of a board has a greater epoch, also above the ceiling that the board reports") {
  Farm farm(1);
  farm.submit(1, "ann");
  CHECK(farm.granted.at(lease_id(1)).parts[0].epoch == 1);
  farm.handle(farm::LeaseReleased{lease_id(1)});
  farm.submit(2, "ann");
  CHECK(farm.granted.at(lease_id(2)).parts[0].epoch == 2);
  farm.handle(farm::LeaseReleased{lease_id(2)});
  farm::BoardJoined again = farm.joining(1, 101);
  again.ceiling = 5000;
  farm.handle(again);
  farm.submit(3, "ann");
  CHECK(farm.granted.at(lease_id(3)).parts[0].epoch == 5001);
}

TEST_CASE("several boards are granted when all have acknowledged") {
  Farm farm(2);
  farm.acknowledges = false;
  farm.submit(1, "ann", {"b1", "b2"});
  const auto announced = farm.sent<farm::AnnounceLease>();
  REQUIRE(announced.size() == 2);
  farm.handle(farm::BoardAcknowledged{announced[0].connection, announced[0].announcement.key, 0});
  CHECK(!farm.is_granted(1));
  farm.handle(farm::BoardAcknowledged{announced[1].connection, announced[1].announcement.key, 0});
  CHECK(farm.is_granted(1));
}

TEST_CASE("a lease that not all boards acknowledge within 2 s is rolled back, and its request waits again") {
  Farm farm(2);
  farm.acknowledges = false;
  farm.submit(1, "ann", {"b1", "b2"});
  const auto announced = farm.sent<farm::AnnounceLease>();
  farm.handle(farm::BoardAcknowledged{board_link(1), announced[0].announcement.key, 0});
  farm.keeps_alive = false;
  farm.pass(std::chrono::milliseconds(1999));
  CHECK(farm.sent<farm::WithdrawLease>().empty());
  farm.pass(std::chrono::milliseconds(1));
  CHECK(farm.sent<farm::WithdrawLease>().size() == 2);
  CHECK(farm.store.leases().empty());
  CHECK(farm.store.requests().size() == 1);
  farm.acknowledges = true;
  farm.heartbeat(2);
  CHECK(farm.is_granted(1));
}

TEST_CASE("a board that leaves three announcements in a row unanswered is suspect") {
  Farm farm(1);
  farm.acknowledges = false;
  farm.submit(1, "ann");
  farm.pass(seconds(30));
  CHECK(farm.sent<farm::AnnounceLease>().size() == 3);
  CHECK(farm.store.board(board_id(1)).state == farm::BoardState::suspect);
}

TEST_CASE("a lease that ends before its commit is never announced") {
  Farm farm(1);
  farm.persists = false;
  farm.submit(1, "ann");
  farm.handle(farm::ClientLeft{client_link(1)});
  farm.persist();
  CHECK(farm.sent<farm::AnnounceLease>().empty());
}

TEST_CASE("an end takes effect only when it is persisted") {
  Farm farm(1);
  farm.submit(1, "ann");
  farm.persists = false;
  farm.handle(farm::LeaseReleased{lease_id(1)});
  CHECK(farm.sent<farm::WithdrawLease>().empty());
  CHECK(farm.end_of(1).empty());
  farm.persist();
  CHECK(farm.sent<farm::WithdrawLease>().size() == 1);
  CHECK(farm.end_of(1) == "released");
}

TEST_CASE("an attached lease ends with its client's connection") {
  Farm farm(1);
  farm.submit(1, "ann");
  farm.handle(farm::ClientLeft{client_link(1)});
  CHECK(farm.store.history().at(lease_id(1)).reason == farm::EndReason::client_gone);
  CHECK(!farm.serving.contains(board_link(1)));
}

TEST_CASE("an attached lease ends when nothing was heard from its client for 11 s") {
  Farm farm(1);
  farm.submit(1, "ann");
  farm.keeps_alive = false;
  farm.pass(seconds(10));
  farm.heartbeat(1);
  CHECK(farm.store.history().empty());
  farm.pass(seconds(1));
  CHECK(farm.store.history().at(lease_id(1)).reason == farm::EndReason::client_silent);
}

TEST_CASE("a reserved lease outlasts its client and ends at its time") {
  Farm farm(1);
  farm::Request request = farm.request(1, "ann");
  request.kind = farm::LeaseKind::reserved;
  farm.submit(request);
  farm.handle(farm::ClientLeft{client_link(1)});
  farm.pass(minutes(9));
  CHECK(farm.store.leases().size() == 1);
  farm.pass(minutes(1));
  CHECK(farm.store.history().at(lease_id(1)).reason == farm::EndReason::lease_expired);
}

TEST_CASE("a warning comes before a lease ends") {
  Farm farm(1);
  farm.submit(1, "ann");
  farm.pass(minutes(9) - seconds(1));
  CHECK(farm.sent<farm::TellWarning>().empty());
  farm.pass(seconds(1));
  REQUIRE(farm.sent<farm::TellWarning>().size() == 1);
  CHECK(farm.sent<farm::TellWarning>()[0].remaining == minutes(1));
  farm.pass(minutes(1));
  CHECK(farm.sent<farm::TellWarning>().size() == 1);
  CHECK(farm.end_of(1) == "lease_expired");
}

TEST_CASE("an extension is committed and acknowledged before its client hears of it, and only lengthens") {
  Farm farm(1);
  farm.submit(1, "ann");
  farm.actions.clear();
  farm.persists = false;
  farm.handle(farm::ExtensionRequested{lease_id(1), minutes(20)});
  CHECK(farm.sent<farm::AnnounceLease>().empty());
  CHECK(farm.sent<farm::TellExtension>().empty());
  farm.persist();
  REQUIRE(farm.sent<farm::AnnounceLease>().size() == 1);
  CHECK(farm.sent<farm::AnnounceLease>()[0].announcement.extension == 1);
  REQUIRE(farm.sent<farm::TellExtension>().size() == 1);
  CHECK(farm.sent<farm::TellExtension>()[0].remaining == minutes(20));
  farm.handle(farm::ExtensionRequested{lease_id(1), minutes(5)});
  CHECK(farm.sent<farm::TellExtension>()[1].remaining == minutes(20));
  CHECK(farm.sent<farm::AnnounceLease>().size() == 1);
}

TEST_CASE("an extension that no board acknowledges is answered after 2 s") {
  Farm farm(1);
  farm.submit(1, "ann");
  farm.acknowledges = false;
  farm.handle(farm::ExtensionRequested{lease_id(1), minutes(20)});
  farm.pass(seconds(2));
  REQUIRE(farm.sent<farm::TellExtension>().size() == 1);
  CHECK(farm.sent<farm::TellExtension>()[0].refusal == "a board has not acknowledged it");
  CHECK(farm.sent<farm::TellExtension>()[0].remaining == minutes(10) - seconds(2));
}

TEST_CASE("a client is never told more than what the boards have acknowledged") {
  Farm farm(1);
  farm.submit(1, "ann");
  farm.acknowledges = false;
  farm.handle(farm::ExtensionRequested{lease_id(1), minutes(20)});
  farm.pass(seconds(2));
  farm.acknowledges = true;
  farm.actions.clear();
  farm.handle(farm::ExtensionRequested{lease_id(1), minutes(15)});
  REQUIRE(farm.sent<farm::AnnounceLease>().size() == 1);
  CHECK(farm.sent<farm::AnnounceLease>()[0].announcement.extension == 2);
  REQUIRE(farm.sent<farm::TellExtension>().size() == 1);
  CHECK(farm.sent<farm::TellExtension>()[0].remaining == minutes(20) - seconds(2));
}

TEST_CASE("extensions are refused while others wait for the board, but not because of the holder himself") {
  Farm farm(2);
  farm.submit(1, "ann", {"b1"});
  farm.submit(2, "ann", {"b1"});
  farm.handle(farm::ExtensionRequested{lease_id(1), minutes(20)});
  CHECK(farm.sent<farm::TellExtension>()[0].refusal.empty());
  farm.submit(3, "ben", {"b1"});
  farm.handle(farm::ExtensionRequested{lease_id(1), minutes(30)});
  CHECK(farm.sent<farm::TellExtension>()[1].refusal == "others wait for the board");
  CHECK(farm.sent<farm::TellExtension>()[1].remaining == minutes(20));
  farm.submit(4, "ann", {"b2"});
  farm.handle(farm::ExtensionRequested{lease_id(4), minutes(30)});
  CHECK(farm.sent<farm::TellExtension>()[2].refusal.empty());
  farm.handle(farm::ExtensionRequested{lease_id(4), hours(9)});
  CHECK(farm.sent<farm::TellExtension>()[3].refusal == "expected an extension to at most 8h, got 9h");
}

TEST_CASE("a board that does not serve its lease any more ends it as an infrastructure failure") {
  Farm farm(1);
  farm.submit(1, "ann");
  farm.handle(farm.joining(1, 101));
  CHECK(farm.end_of(1) == "board_lost_lease");
  CHECK(farm::class_of(farm::EndReason::board_lost_lease) == farm::FailureClass::infrastructure);
}

TEST_CASE("a board that connects again with its lease keeps it") {
  Farm farm(1);
  farm.submit(1, "ann");
  farm::BoardJoined again = farm.joining(1, 101);
  again.ceiling = 1025;
  again.serving = farm.serving.at(board_link(1));
  farm.handle(farm::BoardLeft{board_link(1)});
  farm.pass(seconds(60));
  farm.handle(again);
  CHECK(farm.is_granted(1));
}

TEST_CASE("a lease that ends on the board ends for its client") {
  Farm farm(1);
  farm.submit(1, "ann");
  farm.pass(minutes(9));
  farm.handle(farm::BoardLeaseOver{board_link(1), farm.serving.at(board_link(1))});
  CHECK(farm.end_of(1) == "lease_expired");
}

TEST_CASE("a board that serves a lease which nobody knows is told to end it") {
  MachineDriver farm;
  farm.enrol(1);
  farm::BoardJoined joined = farm.joining(1, 1);
  joined.serving = lease::LeaseKey{77, 3};
  farm.handle(joined);
  REQUIRE(farm.sent<farm::WithdrawLease>().size() == 1);
  CHECK(farm.sent<farm::WithdrawLease>()[0].key == lease::LeaseKey{77, 3});
}

TEST_CASE("an admin may end any lease") {
  Farm farm(1);
  farm.submit(1, "ann");
  farm.handle(farm::LeaseRevoked{lease_id(1)});
  CHECK(farm.end_of(1) == "revoked");
}

TEST_CASE("a machine that has lost its term does nothing any more") {
  Farm farm(1);
  farm.submit(1, "ann");
  farm.handle(farm::TermLost{});
  farm.actions.clear();
  farm.handle(farm::LeaseReleased{lease_id(1)});
  farm.handle(farm::Tick{});
  CHECK(farm.actions.empty());
  CHECK(!farm.machine->next_deadline());
  CHECK(farm.machine->queue(farm.now).empty());
  CHECK(farm.machine->waiting() == 0);
}

}  // namespace
}  // namespace ferry::test
