// Clients with a valid key that take more than is theirs.
#include <doctest/doctest.h>

#include <thread>

#include "host/farm/client/tracker_link.h"
#include "tests/support/farm/memory_store.h"
#include "tests/support/farm_peers/running_tracker.h"

namespace ferry::test {
namespace {

using namespace farm::wire;
using farm::BoardLease;
using std::chrono::milliseconds;

TEST_CASE("a viewer does nothing to the leases of a holder whose name he shares") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  const auto board = tracker.join(tracker.board_key("pi-3"));
  const farm::FarmAccess anna = tracker.add_client("anna"), viewer = tracker.add_client("anna", Role::viewer);
  farm::LeaseWish wish;
  wish.selectors = {"pi-3"};
  wish.length = std::chrono::minutes(5);
  const auto lease = BoardLease::request(anna, wish);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  const auto before = lease.value()->remaining();
  auto link = farm::TrackerLink::open(viewer, tracker.address(), std::chrono::seconds(5));
  REQUIRE(link.is_ok());
  REQUIRE(link.value()->send(Extend{lease.value()->id(), 3'600'000}).is_ok());
  REQUIRE(link.value()->send(Release{lease.value()->id()}).is_ok());
  CHECK(farm::TrackerConnection(viewer).ask(EndLease{lease.value()->id()}).status().code() == ErrorCode::not_found);
  CHECK_FALSE(board->wait_until_free(milliseconds(500)));
  CHECK(lease.value()->remaining() <= before);
  CHECK_FALSE(lease.value()->wait_for_end(milliseconds(0)));
}

TEST_CASE("one key does not take all connections") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  const farm::FarmAccess anna = tracker.add_client("anna");
  std::vector<std::unique_ptr<farm::TrackerLink>> links;
  const auto open = [&](const farm::FarmAccess& who) {
    auto link = farm::TrackerLink::open(who, tracker.address(), std::chrono::seconds(5));
    if (link.is_ok()) links.push_back(std::move(link.value()));
    return link.status();
  };
  // A quarter of the 64 that the tracker of a test allows.
  for (int i = 0; i < 16; ++i) REQUIRE(open(anna).is_ok());
  CHECK(open(anna).code() == ErrorCode::busy);
  CHECK(open(tracker.add_client("anna")).is_ok());
  links.pop_back();
  links.pop_back();
  Status again(ErrorCode::busy, "");
  for (int i = 0; i < 100 && !again.is_ok(); ++i) {
    again = open(anna);
    std::this_thread::sleep_for(milliseconds(10));
  }
  CHECK_MESSAGE(again.is_ok(), again.message());

  const secure::Key enrolment = tracker.enrol("pi-3");
  std::vector<std::unique_ptr<TestBoard>> boards;
  for (int i = 0; i < 16; ++i) boards.push_back(tracker.join(enrolment));
  TestBoardOptions options;
  options.tracker = tracker.address();
  options.key = enrolment;
  CHECK(TestBoard(options).joined_as().status().code() == ErrorCode::busy);
}

}  // namespace
}  // namespace ferry::test
