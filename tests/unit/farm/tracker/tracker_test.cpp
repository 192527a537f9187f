// A tracker, boards and clients on this machine, over real connections.
#include "farm/tracker/tracker.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <future>
#include <thread>
#include <utility>

#include "tests/support/farm/memory_store.h"
#include "tests/support/farm_peers/running_tracker.h"

namespace ferry::test {
namespace {

using namespace farm::wire;
using farm::BoardLease;
using farm::FarmClient;
using std::chrono::milliseconds;

// A tracker with one client.
struct Lab {
  RunningTracker tracker{std::make_unique<MemoryStore>()};
  farm::FarmAccess anna = tracker.add_client("anna");

  // The lease of one board.
  Result<std::unique_ptr<BoardLease>> lease(const farm::FarmAccess& who, const std::string& selector,
                                            milliseconds wait = std::chrono::seconds(10)) const {
    farm::LeaseOptions wanted;
    wanted.selectors = {selector};
    wanted.wait = wait;
    return BoardLease::request(who, wanted);
  }
  // The named boards, as the farm lists them.
  std::vector<DeviceListing> devices(const std::string& selector = {}) const {
    auto page = FarmClient(anna).ask(ListDevices{selector, {}});
    REQUIRE_MESSAGE(page.is_ok(), page.status().message());
    return page.value().devices;
  }
  template <class Query>
  Status ask(const farm::FarmAccess& who, const Query& query) const {
    return FarmClient(who).ask(query).status();
  }
};

TEST_CASE("a board is enrolled once, gets a key of its own, and the key of its enrolment is worthless afterwards") {
  Lab lab;
  const secure::Key first = lab.tracker.enrol("pi-3");
  secure::Key own;
  {
    const auto board = lab.tracker.join(first);
    CHECK(board->joined_as().value() == "pi-3");
    const auto key = board->new_key();
    REQUIRE(key);
    own = {*key};
  }
  // A board that could not keep its new key tries again.
  CHECK(lab.tracker.join(first)->new_key() == own.bytes);
  CHECK_FALSE(lab.devices().at(0).is_connected);
  const auto board = lab.tracker.join(own);
  CHECK(board->joined_as().value() == "pi-3");
  CHECK(lab.tracker.wait_for_log("its enrolment is complete"));
  TestBoardOptions again;
  again.tracker = lab.tracker.address();
  again.key = first;
  CHECK(TestBoard(again).joined_as().status().code() == ErrorCode::unauthenticated);
  const DeviceListing listed = lab.devices().at(0);
  CHECK(listed.is_connected);
  CHECK(listed.state == "good");
  CHECK(listed.description.model == "rpi4");
}

TEST_CASE("a client gets a board with the key that the board admits, and others wait until it is released") {
  Lab lab;
  const auto board = lab.tracker.join(lab.tracker.board_key("pi-3", {{"bench", ""}}));
  auto lease = lab.lease(lab.anna, "rpi4,tag:bench");
  REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
  const GrantedSlot slot = lease.value()->slots().at(0);
  CHECK(slot.board == "pi-3");
  CHECK(slot.address == "127.0.0.1:1");
  const auto served = board->wait_for_lease();
  REQUIRE(served);
  CHECK(served->psk == slot.psk);
  CHECK(served->key.lease == lease.value()->id());
  const DeviceListing leased = lab.devices("tag:bench").at(0);
  CHECK(leased.holder == "anna");
  CHECK(leased.remaining_ms.value_or(0) > 0);
  CHECK(leased.remaining_ms.value_or(0) <= 8u * 3600 * 1000);
  const auto summary = FarmClient(lab.anna).ask(Summarize{});
  REQUIRE(summary.is_ok());
  CHECK(summary.value().boards == 1);
  CHECK(summary.value().connected == 1);
  CHECK(summary.value().leased == 1);
  CHECK(summary.value().waiting == 0);

  const farm::FarmAccess berta = lab.tracker.add_client("berta");
  const auto too_soon = lab.lease(berta, "pi-3", milliseconds(300));
  CHECK(too_soon.status().code() == ErrorCode::busy);

  std::unique_ptr<BoardLease> second;
  std::thread waiting([&] {
    auto result = lab.lease(berta, "pi-3");
    if (result.is_ok()) second = std::move(result.value());
  });
  auto queue = FarmClient(lab.anna).ask(ListQueue{});
  for (int i = 0; i < 500 && queue.is_ok() && queue.value().requests.empty(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    queue = FarmClient(lab.anna).ask(ListQueue{});
  }
  REQUIRE(queue.value().requests.size() == 1);
  CHECK(queue.value().requests[0].holder == "berta");
  CHECK(queue.value().requests[0].place == 1);
  lease.value()->release();
  waiting.join();
  REQUIRE(second);
  CHECK(second->slots().at(0).psk != slot.psk);
  CHECK(second->slots().at(0).epoch > slot.epoch);
}

TEST_CASE("a lease that is too long is refused with the length that was asked for") {
  Lab lab;
  const auto board = lab.tracker.join(lab.tracker.board_key("pi-3"));
  farm::LeaseOptions wanted;
  wanted.selectors = {"pi-3"};
  wanted.length = std::chrono::hours(9);
  const std::string message = BoardLease::request(lab.anna, wanted).status().message();
  CAPTURE(message);
  CHECK(message.find("expected a lease of more than 0s and at most 8h, got 9h") != std::string::npos);
}

TEST_CASE("a board is told the same number for all leases of a holder, and different ones for different holders") {
  Lab lab;
  const farm::FarmAccess berta = lab.tracker.add_client("berta");
  const auto board = lab.tracker.join(lab.tracker.board_key("pi-3"));
  const auto other = lab.tracker.join(lab.tracker.board_key("pi-4"));
  const auto number_of = [&](TestBoard& at, const std::string& name, const farm::FarmAccess& who) {
    const auto lease = lab.lease(who, name);
    REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
    const auto served = at.wait_for_lease();
    REQUIRE(served);
    lease.value()->release();
    REQUIRE(at.wait_until_free());
    return served->holder;
  };
  const std::uint64_t annas = number_of(*board, "pi-3", lab.anna);
  CHECK(annas != 0);
  CHECK(number_of(*board, "pi-3", berta) != annas);
  CHECK(number_of(*board, "pi-3", lab.anna) == annas);
  CHECK(number_of(*other, "pi-4", lab.anna) == annas);
}

TEST_CASE("a client whose connection ends loses its lease within two seconds") {
  Lab lab;
  const auto board = lab.tracker.join(lab.tracker.board_key("pi-3"));
  {
    auto link = farm::TrackerConnection::open(lab.anna, lab.tracker.address(), std::chrono::seconds(5));
    REQUIRE(link.is_ok());
    REQUIRE(link.value()->send(Submit{{77, {"pi-3"}, 0, 60'000, 60'000, LeaseKind::attached}}).is_ok());
    REQUIRE(board->wait_for_lease());
  }
  CHECK(board->wait_until_free(milliseconds(2000)));
}

TEST_CASE("a reserved lease outlives its connection, and its holder alone may release it") {
  Lab lab;
  const auto board = lab.tracker.join(lab.tracker.board_key("pi-3"));
  std::uint64_t id = 0;
  {
    farm::LeaseOptions wanted;
    wanted.selectors = {"pi-3"};
    wanted.length = std::chrono::minutes(5);
    wanted.kind = LeaseKind::reserved;
    auto lease = BoardLease::request(lab.anna, wanted);
    REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
    id = lease.value()->id();
  }
  CHECK_FALSE(board->wait_until_free(milliseconds(500)));
  const farm::FarmAccess berta = lab.tracker.add_client("berta");
  CHECK(lab.ask(berta, EndLease{id}).code() == ErrorCode::not_found);
  const auto leases = FarmClient(berta).ask(ListLeases{});
  REQUIRE(leases.is_ok());
  REQUIRE(leases.value().leases.size() == 1);
  CHECK(leases.value().leases[0].holder == "anna");
  CHECK(leases.value().leases[0].boards == std::vector<std::string>{"pi-3"});
  CHECK(lab.ask(lab.anna, EndLease{id}).is_ok());
  CHECK(board->wait_until_free());
  const auto history = FarmClient(berta).ask(ListHistory{"pi-3", "", 0, 0});
  REQUIRE(history.is_ok());
  REQUIRE(history.value().leases.size() == 1);
  CHECK(history.value().leases[0].reason == "released");
}

TEST_CASE("several boards are granted together, or none") {
  Lab lab;
  const auto first = lab.tracker.join(lab.tracker.board_key("pi-1"));
  const auto second = lab.tracker.join(lab.tracker.board_key("pi-2"));
  farm::LeaseOptions wanted;
  wanted.selectors = {"rpi4", "rpi4"};
  wanted.wait = milliseconds(500);
  {
    auto both = BoardLease::request(lab.anna, wanted);
    REQUIRE_MESSAGE(both.is_ok(), both.status().message());
    CHECK(both.value()->slots().at(0).board != both.value()->slots().at(1).board);
  }
  REQUIRE(first->wait_until_free());
  REQUIRE(second->wait_until_free());
  auto one = lab.lease(lab.tracker.add_client("berta"), "pi-1");
  REQUIRE(one.is_ok());
  CHECK(BoardLease::request(lab.anna, wanted).status().code() == ErrorCode::busy);
  CHECK(second->wait_until_free());
}

TEST_CASE("a request that no board could ever serve is refused at once with the reason") {
  Lab lab;
  const auto board = lab.tracker.join(lab.tracker.board_key("pi-3"));
  const auto lease = lab.lease(lab.anna, "arch=riscv64");
  CHECK(lease.status().code() == ErrorCode::invalid_argument);
  CHECK(lease.status().message().find("riscv64") != std::string::npos);
  const auto misspelt = lab.lease(lab.anna, "cores>>3");
  CHECK(misspelt.status().code() == ErrorCode::invalid_argument);
}

TEST_CASE("a revoked key is shut out within a second, with its leases") {
  Lab lab;
  const secure::Key key = lab.tracker.board_key("pi-3");
  const auto board = lab.tracker.join(key);
  auto lease = lab.lease(lab.anna, "pi-3");
  REQUIRE(lease.is_ok());
  REQUIRE(board->wait_for_lease());
  CHECK(lab.ask(lab.anna, RevokeCredential{CredentialKind::client, "anna"}).code() == ErrorCode::unauthenticated);
  REQUIRE(lab.ask(lab.tracker.admin(), RevokeCredential{CredentialKind::client, "anna"}).is_ok());
  CHECK(board->wait_until_free(milliseconds(1000)));
  const auto end = lease.value()->wait_for_end(milliseconds(5000));
  REQUIRE(end);
  CHECK(FarmClient(lab.anna).ask(ListQueue{}).status().code() == ErrorCode::unauthenticated);

  REQUIRE(lab.ask(lab.tracker.admin(), RevokeCredential{CredentialKind::board, "pi-3"}).is_ok());
  CHECK(board->wait_for_end(milliseconds(1000)).find("revoked") != std::string::npos);
  TestBoardOptions again;
  again.tracker = lab.tracker.address();
  again.key = key;
  CHECK(TestBoard(again).joined_as().status().code() == ErrorCode::unauthenticated);
  // An admin can enrol it anew, with another key.
  CHECK(lab.tracker.board_key("pi-3").bytes != key.bytes);
}

TEST_CASE("a revoked key is shut out even if that cannot be remembered, and the admin hears so") {
  farm::TrackerOptions options;
  options.note_revocation = [](const farm::Credential&) {
    return Status(ErrorCode::resource_exhausted, "the disk is full");
  };
  RunningTracker tracker(std::make_unique<MemoryStore>(), std::move(options));
  const farm::FarmAccess anna = tracker.add_client("anna");
  const Status revoked = FarmClient(tracker.admin()).ask(RevokeCredential{CredentialKind::client, "anna"}).status();
  CHECK(revoked.code() == ErrorCode::resource_exhausted);
  CHECK(revoked.message().find("not for good: the disk is full") != std::string::npos);
  CHECK(FarmClient(anna).ask(ListQueue{}).status().code() == ErrorCode::unauthenticated);
}

TEST_CASE("only admins change the farm, and viewers get no boards") {
  Lab lab;
  const auto board = lab.tracker.join(lab.tracker.board_key("pi-3"));
  const farm::FarmAccess guest = lab.tracker.add_client("guest", Role::viewer);
  for (const farm::FarmAccess& who : {lab.anna, guest}) {
    CHECK(lab.ask(who, OrderBoard{"pi-3", BoardOrder::maintain}).code() == ErrorCode::unauthenticated);
    CHECK(lab.ask(who, EnrolBoard{"pi-4", {}, "", false}).code() == ErrorCode::unauthenticated);
    CHECK(lab.ask(who, AddClient{"mallory", Role::admin}).code() == ErrorCode::unauthenticated);
    CHECK(lab.ask(who, AddToken{"mallory", Role::admin}).code() == ErrorCode::unauthenticated);
    CHECK(lab.ask(who, ListAudit{}).code() == ErrorCode::unauthenticated);
    CHECK(lab.ask(who, ListCredentials{}).code() == ErrorCode::unauthenticated);
  }
  CHECK(lab.lease(guest, "pi-3").status().message().find("viewers") != std::string::npos);
  CHECK(lab.devices().at(0).lease == 0);
}

TEST_CASE("a maintained board is handed out to nobody, a retired one keeps its name for good") {
  Lab lab;
  const farm::FarmAccess admin = lab.tracker.admin();
  const auto board = lab.tracker.join(lab.tracker.board_key("pi-3"));
  CHECK(lab.ask(admin, OrderBoard{"pi-4", BoardOrder::maintain}).code() == ErrorCode::not_found);
  REQUIRE(lab.ask(admin, OrderBoard{"pi-3", BoardOrder::maintain}).is_ok());
  CHECK(lab.lease(lab.anna, "pi-3", milliseconds(300)).status().code() == ErrorCode::busy);
  REQUIRE(lab.ask(admin, OrderBoard{"pi-3", BoardOrder::return_to_service}).is_ok());
  CHECK(lab.lease(lab.anna, "pi-3").is_ok());
  REQUIRE(lab.ask(admin, OrderBoard{"pi-3", BoardOrder::retire}).is_ok());
  CHECK(lab.lease(lab.anna, "pi-3").status().code() == ErrorCode::invalid_argument);
  CHECK(lab.ask(admin, OrderBoard{"pi-3", BoardOrder::return_to_service}).code() == ErrorCode::invalid_argument);
  CHECK(lab.ask(admin, EnrolBoard{"pi-3", {}, "", false}).code() == ErrorCode::invalid_argument);
  const auto audit = FarmClient(admin).ask(ListAudit{"pi-3", 0});
  REQUIRE(audit.is_ok());
  std::vector<std::string> actions;
  for (const AuditListing& entry : audit.value().entries) actions.push_back(entry.action);
  CHECK(actions == std::vector<std::string>{"retire", "return", "maintain", "enrol"});
}

TEST_CASE("two boards with the same key are both suspect, and one that has only started again is not") {
  Lab lab;
  const secure::Key key = lab.tracker.board_key("pi-3");
  auto board = lab.tracker.join(key, 1);
  {
    const auto clone = lab.tracker.join(key, 2);
    CHECK(clone->wait_for_end().find("same key") != std::string::npos);
  }
  CHECK(lab.devices().at(0).state == "suspect");
  REQUIRE(lab.ask(lab.tracker.admin(), OrderBoard{"pi-3", BoardOrder::return_to_service}).is_ok());
  // The same system connects again: its earlier connection was only cut.
  const auto again = lab.tracker.join(key, 1);
  CHECK(board->wait_for_end().find("connected again") != std::string::npos);
  board.reset();
  CHECK(lab.devices().at(0).state == "good");
  CHECK(lab.devices().at(0).is_connected);
}

TEST_CASE("names, tags and holders outside of what is allowed are refused") {
  Lab lab;
  const farm::FarmAccess admin = lab.tracker.admin();
  for (const char* name : {"", "-pi", "pi 3", "<b>pi</b>", "\x1b[2J", "../pi"}) {
    CAPTURE(name);
    CHECK(lab.ask(admin, EnrolBoard{name, {}, "", false}).code() == ErrorCode::invalid_argument);
  }
  CHECK(lab.ask(admin, EnrolBoard{"pi-3", {{"", "x"}}, "", false}).code() == ErrorCode::invalid_argument);
  CHECK(lab.ask(admin, AddClient{"", Role::user}).code() == ErrorCode::invalid_argument);
  CHECK(lab.ask(admin, RevokeCredential{CredentialKind::token, "nobody"}).code() == ErrorCode::not_found);
  CHECK(lab.devices().empty());
}

TEST_CASE("a board that lies about itself is listed with what is printable of it, and harms nobody") {
  Lab lab;
  TestBoardOptions options;
  options.tracker = lab.tracker.address();
  options.key = lab.tracker.board_key("pi-3");
  Description& description = options.description;
  description.model = "<script>alert(1)</script>\xff";
  description.cpu = std::string(256, '\x1b');
  description.memory_bytes = ~std::uint64_t{0};
  for (int i = 0; i < 128; ++i) description.features.push_back(std::string(64, '\x7f'));
  for (int i = 0; i < 16; ++i) description.tags.push_back({"tag" + std::to_string(i), std::string(256, '\n')});
  TestBoard board(options);
  REQUIRE_MESSAGE(board.joined_as().is_ok(), board.joined_as().status().message());
  const auto devices = lab.devices();
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].name == "pi-3");
  CHECK(devices[0].description.cpu.find('\x1b') == std::string::npos);
  board.send(Heartbeat{~std::uint64_t{0}, -2'000'000'000, true, ~0u, 12345});
  board.send(Acknowledged{{1, 2}, 3});
  board.send(LeaseOver{{0, 0}});
  board.send(SessionEnded{{1, 2}, "\x1b[2J", ~std::uint64_t{0}, std::string(2048, '\x01')});
  CHECK(lab.devices().at(0).name == "pi-3");
}

TEST_CASE("a token names its holder to other threads until it is revoked") {
  Lab lab;
  const farm::FarmAccess admin = lab.tracker.admin();
  const auto made = FarmClient(admin).ask(AddToken{"anna", Role::viewer});
  REQUIRE(made.is_ok());
  farm::Farm& farm = lab.tracker.farm();
  const auto caller = farm.find_token(made.value().token);
  REQUIRE(caller.is_ok());
  CHECK(caller.value().holder == "anna");
  CHECK(caller.value().role == Role::viewer);
  CHECK(farm.find_token(made.value().token + "0").status().code() == ErrorCode::unauthenticated);
  CHECK(farm.find_token("").status().code() == ErrorCode::unauthenticated);
  CHECK(farm.ask(caller.value(), ListDevices{}).is_ok());
  CHECK(farm.ask(caller.value(), AddClient{"x", Role::user}).status().code() == ErrorCode::unauthenticated);
  const std::uint64_t seen = farm.change_count();
  std::promise<void> changed;
  farm.set_change_listener([&, is_first = true]() mutable {
    if (std::exchange(is_first, false)) changed.set_value();
  });
  const auto board = lab.tracker.join(lab.tracker.board_key("pi-3"));
  changed.get_future().wait();
  CHECK(farm.change_count() != seen);
  farm.set_change_listener(nullptr);
  CHECK(farm.numbers().value().boards_connected == 1);
  REQUIRE(lab.ask(admin, RevokeCredential{CredentialKind::token, "anna"}).is_ok());
  CHECK(farm.find_token(made.value().token).status().code() == ErrorCode::unauthenticated);
}

TEST_CASE("a token that was made for a time is worthless after it") {
  Lab lab;
  FarmClient admin(lab.tracker.admin());
  const auto made = admin.ask(AddToken{"anna", Role::viewer, 300});
  REQUIRE(made.is_ok());
  farm::Farm& farm = lab.tracker.farm();
  CHECK(farm.find_token(made.value().token).is_ok());
  CHECK(admin.ask(AddToken{"anna", Role::viewer, ~std::uint64_t{0}}).status().code() == ErrorCode::invalid_argument);
  for (int i = 0; i < 1000 && farm.find_token(made.value().token).is_ok(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(farm.find_token(made.value().token).status().code() == ErrorCode::unauthenticated);
  const auto listed = admin.ask(ListCredentials{});
  REQUIRE(listed.is_ok());
  const auto is_expiring = [](const CredentialListing& one) { return one.expires_ms.has_value(); };
  CHECK(std::ranges::count_if(listed.value().credentials, is_expiring) == 1);
}

}  // namespace
}  // namespace ferry::test
