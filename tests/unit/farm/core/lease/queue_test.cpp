// Tests which requests are refused, how they wait and what they hear meanwhile.
#include <doctest/doctest.h>

#include "farm/core/lease/limits.h"
#include "tests/unit/farm/core/lease/machine_driver.h"

namespace ferry::test {
namespace {

struct Farm : MachineDriver {
  Farm() {
    enrol(1, "box");
    enrol(2, "box");
    enrol(3);
    for (std::uint64_t number = 1; number <= 3; ++number) join(number);
  }
  std::string refusal_of(std::uint64_t id) const { return ended.at(lease_id(id)).text; }
};

TEST_CASE("a request that no board could ever serve is refused at once with the reason") {
  Farm farm;
  farm.submit(1, "ann", {"rpi5"});
  CHECK(farm.end_of(1) == "unservable");
  CHECK(farm.refusal_of(1) == "no board has rpi5");
  farm.submit(2, "ann", {"b1", "b2"});
  const std::string one_machine = ": b1 and b2 are on one machine, whose boards are leased one at a time";
  CHECK(farm.refusal_of(2) ==
        "expected 2 boards that can be used at the same time for 'b1' and 'b2', got 1" + one_machine);
  farm.submit(3, "ann", {"rpi4", "rpi4", "rpi4"});
  CHECK(farm.refusal_of(3) ==
        "expected 3 boards that can be used at the same time for 'rpi4' and 'rpi4' and 'rpi4', got 2" + one_machine);
  farm.handle(farm::BoardOrdered{board_id(3), farm::BoardOrder::retire});
  farm.submit(4, "ann", {"b3"});
  CHECK(farm.refusal_of(4) == "all boards that match b3 are bad or retired");
  CHECK(farm.store.requests().empty());
}

TEST_CASE("nobody gets the lease of another holder by its id") {
  Farm farm;
  farm.submit(1, "ann", {"b3"});
  farm.handle(farm::RequestAttached{client_link(20), farm.request(1, "eve", {"b3"}), true});
  CHECK(farm.refusal_of(1) == "the request is not that of this holder");
  farm.submit(farm.request(1, "eve", {"b3"}));
  farm.handle(farm::ClientLeft{client_link(20)});
  CHECK(farm.store.leases().contains(lease_id(1)));
}

TEST_CASE("the id of a request that has ended is not used again by somebody else") {
  Farm farm;
  farm.submit(1, "ann", {"b3"});
  farm.handle(farm::LeaseReleased{lease_id(1)});
  farm.ended.clear();
  farm.submit(farm.request(1, "eve", {"b3"}));
  CHECK(farm.refusal_of(1) == "the request is not that of this holder");
  farm.ended.clear();
  farm.handle(farm::RequestAttached{client_link(1), farm.request(1, "eve", {"b3"}), false});
  CHECK(farm.refusal_of(1) == "the request is not that of this holder");
  CHECK(farm.store.requests().empty());
  // Her own client did not hear of the end.
  farm.ended.clear();
  farm.handle(farm::RequestAttached{client_link(1), farm.request(1, "ann", {"b3"}), false});
  CHECK(farm.store.leases().contains(lease_id(1)));
}

TEST_CASE("a board that is away or in maintenance may serve a request later") {
  Farm farm;
  farm.handle(farm::BoardLeft{board_link(3)});
  farm.handle(farm::BoardOrdered{board_id(3), farm::BoardOrder::maintain});
  farm.submit(1, "ann", {"b3"});
  CHECK(farm.end_of(1).empty());
  farm.handle(farm::BoardOrdered{board_id(3), farm::BoardOrder::return_to_service});
  CHECK(!farm.is_granted(1));
  farm.handle(farm.joining(3, 103));
  CHECK(farm.is_granted(1));
}

TEST_CASE("a request outside of the limits is refused") {
  Farm farm;
  farm::Request request = farm.request(1, "ann");
  request.priority = 101;
  farm.submit(request);
  CHECK(farm.refusal_of(1) == "expected a priority from 0 to 100, got 101");
  request = farm.request(2, "ann");
  request.length = hours(9);
  farm.submit(request);
  CHECK(farm.refusal_of(2) == "expected a lease of more than 0s and at most 8h, got 9h");
  request = farm.request(3, "ann");
  request.wait = -seconds(1);
  farm.submit(request);
  CHECK(farm.refusal_of(3) == "expected a wait of at most 168h, got -1s");
  request = farm.request(5, "ann");
  request.length = seconds(0);
  farm.submit(request);
  CHECK(farm.refusal_of(5) == "expected a lease of more than 0s and at most 8h, got 0s");
  request = farm.request(6, "ann");
  request.length = hours(8) + seconds(30 * 60 + 5);
  farm.submit(request);
  CHECK(farm.refusal_of(6) == "expected a lease of more than 0s and at most 8h, got 8h30m5s");
  request = farm.request(4, "ann", {});
  farm.submit(request);
  CHECK(farm.refusal_of(4) == "expected 1 to 16 boards, got 0");
}

TEST_CASE("a holder with very many requests does not keep others out of the queue") {
  Farm farm;
  farm.submit(1, "ann", {"b3"});
  std::uint64_t id = 1;
  for (std::size_t i = 0; i < farm::kMaxWaitingOfHolder; ++i) farm.submit(++id, "eve", {"b3"});
  CHECK(farm.end_of(id).empty());
  farm.submit(++id, "eve", {"b3"});
  CHECK(farm.end_of(id) == "queue_full");
  CHECK(farm.refusal_of(id) == "2500 requests of this holder wait already");
  farm.submit(++id, "ben", {"b3"});
  CHECK(farm.end_of(id).empty());
  CHECK(farm.machine->waiting() == farm::kMaxWaitingOfHolder + 1);
}

TEST_CASE("a request whose last board is retired is answered") {
  Farm farm;
  farm.submit(1, "ann", {"b3"});
  farm.submit(2, "ben", {"b3"});
  farm.handle(farm::BoardOrdered{board_id(3), farm::BoardOrder::retire});
  CHECK(farm.is_granted(1));
  CHECK(farm.end_of(2) == "no_longer_servable");
}

TEST_CASE("boards of one machine exclude each other unless told otherwise") {
  Farm farm;
  farm.submit(1, "ann", {"b1"});
  farm.submit(2, "ben", {"b2"});
  CHECK(farm.is_granted(1));
  CHECK(!farm.is_granted(2));
  farm.enrol(2, "box", true);
  farm.pass(minutes(1));
  CHECK(farm.is_granted(2));
}

TEST_CASE("a request waits no longer than it wants to") {
  Farm farm;
  farm.submit(1, "ann", {"b3"});
  farm::Request request = farm.request(2, "ben", {"b3"});
  request.wait = minutes(2);
  farm.submit(request);
  farm.pass(minutes(2));
  CHECK(farm.end_of(2) == "wait_expired");
  CHECK(farm::class_of(farm::EndReason::wait_expired) == farm::FailureClass::timeout);
}

TEST_CASE("a request that waits is cancelled by its holder, or by the end of its client's connection") {
  Farm farm;
  farm.submit(1, "ann", {"b3"});
  farm.submit(2, "ben", {"b3"});
  farm.submit(3, "cem", {"b3"});
  farm.handle(farm::LeaseReleased{lease_id(2)});
  CHECK(farm.end_of(2) == "cancelled");
  farm.handle(farm::ClientLeft{client_link(3)});
  CHECK(farm.store.requests().size() == 1);
}

TEST_CASE("clients hear their places among those who compete for the same boards") {
  Farm farm;
  farm.submit(1, "ann", {"b3"});
  farm.submit(2, "ann", {"b1"});
  farm.submit(3, "ben", {"b3"});
  farm.submit(4, "cem", {"b1"});
  farm.submit(5, "dee", {"rpi4"});
  farm.pass(seconds(1));
  CHECK(farm.waiting.at(lease_id(3)).place == 1);
  CHECK(farm.waiting.at(lease_id(4)).place == 1);
  CHECK(farm.waiting.at(lease_id(5)).place == 3);
  CHECK(!farm.waiting.at(lease_id(3)).estimate);
  farm.handle(farm::LeaseReleased{lease_id(1)});
  farm.pass(seconds(1));
  CHECK(farm.is_granted(3));
  CHECK(farm.waiting.at(lease_id(5)).place == 2);
  CHECK(farm.machine->queue(farm.now).size() == 2);
  CHECK(farm.machine->waiting() == 2);
}

TEST_CASE("the holder who has used less in proportion to his weight comes first") {
  Farm farm;
  farm.handle(farm::HolderWeighted{"ci", 10});
  farm.submit(1, "ci", {"b3"});
  farm.pass(minutes(5));
  farm.handle(farm::LeaseReleased{lease_id(1)});
  farm.submit(2, "ann", {"b3"});
  farm.pass(minutes(1));
  farm.submit(3, "ann", {"b3"});
  farm.submit(4, "ci", {"b3"});
  farm.handle(farm::LeaseReleased{lease_id(2)});
  CHECK(farm.is_granted(4));
  CHECK(!farm.is_granted(3));
}

TEST_CASE("boards held for a request are free for others at once when it is cancelled") {
  Farm farm;
  farm.submit(1, "ann", {"b1"});
  farm::Request both = farm.request(2, "ben", {"b1", "b3"});
  both.priority = 10;
  farm.submit(both);
  farm::Request longer = farm.request(3, "cem", {"b3"});
  longer.length = hours(1);
  farm.submit(longer);
  CHECK(!farm.is_granted(3));
  farm.handle(farm::LeaseReleased{lease_id(2)});
  CHECK(farm.is_granted(3));
}

TEST_CASE("boards held for a request are given to one whose priority has risen above it") {
  Farm farm;
  farm.submit(1, "ann", {"b1"});
  farm.submit(2, "dan", {"b3"});
  farm::Request patient = farm.request(3, "cem", {"b3"});
  patient.length = hours(1);
  farm.submit(patient);
  farm.pass(seconds(50));
  farm::Request both = farm.request(4, "ben", {"b1", "b3"});
  both.priority = 1;
  farm.submit(both);
  farm.handle(farm::LeaseReleased{lease_id(2)});
  farm.pass(seconds(9));
  CHECK(!farm.is_granted(3));
  farm.pass(seconds(1));
  CHECK(farm.is_granted(3));
  CHECK(!farm.is_granted(4));
}

}  // namespace
}  // namespace ferry::test
