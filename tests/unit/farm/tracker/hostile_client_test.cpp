// Clients with a valid key that take more than is theirs.
#include <doctest/doctest.h>

#include <thread>

#include "farm/client/tracker_connection.h"
#include "farm/protocol/lease_id.h"
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
  farm::LeaseOptions wanted;
  wanted.selectors = {"pi-3"};
  wanted.length = std::chrono::minutes(5);
  const auto lease = BoardLease::request(anna, wanted);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  const auto before = lease.value()->remaining();
  auto link = farm::TrackerConnection::open(viewer, tracker.address(), std::chrono::seconds(5));
  REQUIRE(link.is_ok());
  REQUIRE(link.value()->send(Extend{lease.value()->id(), 3'600'000}).is_ok());
  REQUIRE(link.value()->send(Release{lease.value()->id()}).is_ok());
  CHECK(farm::FarmClient(viewer).ask(EndLease{lease.value()->id()}).status().code() == ErrorCode::not_found);
  CHECK_FALSE(board->wait_until_free(milliseconds(500)));
  CHECK(lease.value()->remaining() <= before);
  CHECK_FALSE(lease.value()->wait_for_end(milliseconds(0)));
}

TEST_CASE("attempts to use the ids of others are in the audit log, however many there are with one entry an hour") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  const auto board = tracker.join(tracker.board_key("pi-3"));
  const farm::FarmAccess anna = tracker.add_client("anna"), berta = tracker.add_client("berta"),
                         clara = tracker.add_client("clara");
  farm::LeaseOptions wanted;
  wanted.selectors = {"pi-3"};
  wanted.length = std::chrono::minutes(5);
  auto lease = BoardLease::request(anna, wanted);
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  const std::uint64_t id = lease.value()->id();
  // Returns the entries about refused attempts, the newest first, once there is one of this holder.
  const auto attempts_of = [&](const std::string& holder) {
    std::vector<AuditListing> found;
    for (int i = 0; i < 300 && found.empty(); ++i) {
      const auto page = farm::FarmClient(tracker.admin()).ask(ListAudit{});
      REQUIRE_MESSAGE(page.is_ok(), page.status().message());
      for (const AuditListing& entry : page.value().entries)
        if (entry.actor == holder && entry.action.ends_with(" refused")) found.push_back(entry);
      if (found.empty()) std::this_thread::sleep_for(milliseconds(10));
    }
    return found;
  };
  const auto submit = [&](const farm::FarmAccess& who, std::uint64_t request, int times) {
    auto link = farm::TrackerConnection::open(who, tracker.address(), std::chrono::seconds(5));
    REQUIRE(link.is_ok());
    for (int i = 0; i < times; ++i)
      REQUIRE(link.value()->send(Submit{{request, {"pi-3"}, 0, 60'000, 60'000, LeaseKind::attached}}).is_ok());
    for (int i = 0; i < times; ++i) {
      const auto frame = link.value()->receive(std::chrono::steady_clock::now() + std::chrono::seconds(5));
      REQUIRE(frame.is_ok());
      REQUIRE(frame.value());
      CHECK(decode<Ended>(frame.value()->body).value().text == "the request is not that of this holder");
    }
  };
  submit(berta, id, 100);
  const auto of_berta = attempts_of("berta");
  REQUIRE(of_berta.size() == 1);
  CHECK(of_berta[0].action == "submit refused");
  CHECK(of_berta[0].text == "the id " + farm::lease_text(id) + " of another holder");

  // What is done to leases counts as well.
  auto link = farm::TrackerConnection::open(clara, tracker.address(), std::chrono::seconds(5));
  REQUIRE(link.is_ok());
  REQUIRE(link.value()->send(Release{id}).is_ok());
  const auto of_clara = attempts_of("clara");
  REQUIRE(of_clara.size() == 1);
  CHECK(of_clara[0].action == "release refused");
  CHECK(farm::FarmClient(clara).ask(EndLease{id}).status().code() == ErrorCode::not_found);
  CHECK(farm::FarmClient(clara)
            .ask(EndLease{0x12})
            .status()
            .message()
            .find("clara has no lease or request 0000000000000012") != std::string::npos);
  CHECK(farm::FarmClient(clara).ask(UseRelay{id, 0}).status().code() == ErrorCode::not_found);
  CHECK(attempts_of("clara").size() == 1);
  CHECK_FALSE(lease.value()->wait_for_end(milliseconds(0)));

  // So do ids of leases that have ended.
  lease.value()->release();
  REQUIRE(board->wait_until_free());
  const farm::FarmAccess dora = tracker.add_client("dora");
  submit(dora, id, 2);
  CHECK(attempts_of("dora").size() == 1);
  // A holder's own ids are no attempt.
  CHECK(farm::FarmClient(anna).ask(EndLease{id}).status().code() == ErrorCode::not_found);
  const auto page = farm::FarmClient(tracker.admin()).ask(ListAudit{});
  REQUIRE(page.is_ok());
  for (const AuditListing& entry : page.value().entries) CHECK(entry.actor != "anna");
}

TEST_CASE("one key does not take all connections") {
  RunningTracker tracker(std::make_unique<MemoryStore>());
  const farm::FarmAccess anna = tracker.add_client("anna");
  std::vector<std::unique_ptr<farm::TrackerConnection>> links;
  const auto open = [&](const farm::FarmAccess& who) {
    auto link = farm::TrackerConnection::open(who, tracker.address(), std::chrono::seconds(5));
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
