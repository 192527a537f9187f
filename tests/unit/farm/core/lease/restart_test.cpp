// Tests how a machine continues from what an earlier one has persisted.
#include <doctest/doctest.h>

#include "tests/unit/farm/core/lease/machine_driver.h"

namespace ferry::test {
namespace {

// Board b1 is leased to ann's request 1, and ben's request 2 waits for it; then the tracker restarts.
struct Restarted : MachineDriver {
  Restarted() {
    enrol(1);
    join(1);
    submit(1, "ann");
    submit(2, "ben");
    key = serving.at(board_link(1));
    restart();
  }

  void rejoin() {
    farm::BoardJoined again = joining(1, 101);
    again.ceiling = 1025;
    again.serving = key;
    handle(again);
  }

  lease::LeaseKey key;
};

TEST_CASE("clients that attach again within 10 s keep their leases and their places") {
  Restarted farm;
  farm.pass(seconds(9));
  farm.handle(farm::RequestAttached{client_link(11), farm.request(1, "ann"), true});
  farm.handle(farm::RequestAttached{client_link(12), farm.request(2, "ben"), false});
  farm.rejoin();
  farm.pass(seconds(60));
  CHECK(farm.store.leases().contains(lease_id(1)));
  farm.handle(farm::LeaseReleased{lease_id(1)});
  CHECK(farm.is_granted(2));
  CHECK(farm.granted.at(lease_id(2)).parts[0].epoch > 1025);
}

TEST_CASE("what is attached to clients that do not come again ends after 10 s") {
  Restarted farm;
  farm.rejoin();
  farm.pass(seconds(10));
  CHECK(farm.store.history().at(lease_id(1)).reason == farm::EndReason::not_attached_again);
  CHECK(farm.store.history().at(lease_id(2)).reason == farm::EndReason::not_attached_again);
  CHECK(farm.store.leases().empty());
  CHECK(!farm.serving.contains(board_link(101)));
}

TEST_CASE("a request is not granted before its client has attached again") {
  Restarted farm;
  farm.rejoin();
  farm.handle(farm::LeaseRevoked{lease_id(1)});
  CHECK(!farm.is_granted(2));
  farm.handle(farm::RequestAttached{client_link(12), farm.request(2, "ben"), false});
  CHECK(farm.is_granted(2));
}

TEST_CASE("a client that has not heard of its lease hears when its board has joined") {
  Restarted farm;
  farm.granted.clear();
  farm.handle(farm::RequestAttached{client_link(11), farm.request(1, "ann"), false});
  CHECK(!farm.is_granted(1));
  farm.rejoin();
  CHECK(farm.is_granted(1));
}

TEST_CASE("a lease of which its client has not heard is rolled back if its board does not join") {
  Restarted farm;
  farm.granted.clear();
  farm.handle(farm::RequestAttached{client_link(11), farm.request(1, "ann"), false});
  farm.pass(seconds(10));
  CHECK(farm.store.leases().empty());
  CHECK(farm.store.requests().contains(lease_id(1)));
}

TEST_CASE("a request that was not committed is submitted by attaching, and a lease that is unknown has ended") {
  Restarted farm;
  farm.handle(farm::RequestAttached{client_link(13), farm.request(3, "cem"), false});
  CHECK(farm.store.requests().contains(lease_id(3)));
  farm.handle(farm::RequestAttached{client_link(14), farm.request(4, "dee"), true});
  CHECK(farm.end_of(4) == "unknown_lease");
}

TEST_CASE("epochs grow across a restart even if the board has lost its ceiling") {
  Restarted farm;
  farm.handle(farm.joining(1, 101));
  farm.handle(farm::RequestAttached{client_link(12), farm.request(2, "ben"), false});
  REQUIRE(farm.is_granted(2));
  CHECK(farm.granted.at(lease_id(2)).parts[0].epoch > farm.key.epoch);
}

TEST_CASE("a lease is not longer than 8 hours after the clock was set back") {
  MachineDriver farm;
  farm.now = farm::Time(hours(10'000));
  farm.enrol(1);
  farm.join(1);
  farm::Request request = farm.request(1, "ann");
  request.kind = farm::LeaseKind::reserved;
  farm.submit(request);
  farm.now = farm::Time(hours(1));
  farm.restart();
  farm.pass(hours(8));
  CHECK(farm.store.leases().empty());
}

TEST_CASE("a lease is not shown as longer than it ever was after the clock was set back") {
  MachineDriver farm;
  const farm::Time begin(hours(10'000));
  farm.now = begin;
  farm.enrol(1);
  farm.join(1);
  farm::Request request = farm.request(1, "ann");
  request.kind = farm::LeaseKind::reserved;
  request.length = seconds(60);
  farm.submit(request);
  const auto remaining_after_restart = [&](farm::Time now) {
    farm.now = now;
    farm.restart();
    return farm.machine->leases().at(0).end - now;
  };
  CHECK(remaining_after_restart(begin + seconds(20)) == seconds(40));
  CHECK(remaining_after_restart(begin - seconds(10)) == seconds(60));
  CHECK(remaining_after_restart(farm::Time(hours(1))) == seconds(60));
  // An extension counts from when it was made, not from the lease's beginning.
  farm.now = begin + seconds(50);
  farm.restart();
  farm::BoardJoined again = farm.joining(1, 101);
  again.serving = farm.serving.at(board_link(1));
  farm.handle(again);
  farm.handle(farm::RequestAttached{client_link(11), request, true});
  farm.handle(farm::ExtensionRequested{lease_id(1), seconds(30)});
  CHECK(remaining_after_restart(begin + seconds(60)) == seconds(20));
  CHECK(remaining_after_restart(farm::Time(hours(1))) == seconds(30));
  farm.pass(seconds(31));
  CHECK(farm.store.leases().empty());
}

TEST_CASE("an extension is announced even if the restarted tracker counts on a later end, as its clock was set back") {
  MachineDriver farm;
  farm.now = farm::Time(hours(2));
  farm.enrol(1);
  farm.join(1);
  farm.submit(1, "ann");
  farm.now = farm::Time(hours(1));
  farm.restart();
  farm.handle(farm::RequestAttached{client_link(11), farm.request(1, "ann"), true});
  farm::BoardJoined again = farm.joining(1, 101);
  again.serving = farm.serving.at(board_link(1));
  farm.handle(again);
  farm.actions.clear();
  farm.handle(farm::ExtensionRequested{lease_id(1), minutes(20)});
  CHECK(farm.sent<farm::AnnounceLease>().size() == 1);
  CHECK(farm.sent<farm::TellExtension>().size() == 1);
}

TEST_CASE("used shares and estimates survive a restart") {
  MachineDriver farm;
  farm.enrol(1);
  farm.join(1);
  farm.submit(1, "ann");
  farm.pass(minutes(5));
  farm.handle(farm::LeaseReleased{lease_id(1)});
  farm.restart();
  farm.handle(farm.joining(1, 101));
  farm.submit(2, "cem");
  farm.submit(3, "ann");
  farm.submit(4, "ben");
  farm.pass(seconds(2));
  CHECK(farm.waiting.at(lease_id(4)).place == 1);
  CHECK(farm.waiting.at(lease_id(3)).place == 2);
  CHECK(farm.waiting.at(lease_id(4)).estimate == minutes(5));
  CHECK(farm.waiting.at(lease_id(3)).estimate == minutes(10));
}

}  // namespace
}  // namespace ferry::test
