// Keys and tokens that are unknown, revoked, used up or of a lease that is over.
#include <httplib.h>

#include <thread>

#include "farm/client/board_lease.h"
#include "farm/client/farm_client.h"
#include "rpc/secure/client_handshake.h"
#include "rpc/transport/tcp.h"
#include "tests/faults/farm/fault_farm.h"

namespace ferry::test {
namespace {

using farm::wire::CredentialKind;

Result<std::unique_ptr<farm::BoardLease>> lease(const RealFarm& farm, const secure::Key& key,
                                                const std::string& selector = "b0") {
  farm::FarmAccess access = farm.access();
  access.key = key;
  farm::LeaseOptions wanted{{selector}};
  wanted.wait = std::chrono::seconds(10);
  return farm::BoardLease::request(access, wanted);
}

void revoke(farm::FarmClient& admin, CredentialKind kind, const std::string& name) {
  const auto revoked = admin.ask(farm::wire::RevokeCredential{kind, name});
  REQUIRE_MESSAGE(revoked.is_ok(), revoked.status().message());
}

// Asks the board for a session under this key.
Status open_session(const std::string& address, const secure::Key& key) {
  const TcpAddress board = parse_tcp_address(address, 0).value();
  FERRY_ASSIGN(auto tcp, connect_tcp(board.host, board.port));
  FERRY_ASSIGN(auto transport, secure::encrypt_connection(std::move(tcp), key, std::chrono::seconds(5)));
  rpc::Connection connection(std::move(transport));
  rpc::Open open;
  open.client = "a holder";
  FERRY_TRY(connection.send_request(1, open));
  FERRY_ASSIGN(const rpc::Frame frame, connection.receive_frame());
  return rpc::failure_of(frame);
}

TEST_CASE("unknown and revoked keys get no board, and a revocation ends what goes on") {
  RealFarm farm(farm_of(1));
  farm.start_board(0);
  farm.wait_for_boards(1);
  CHECK(lease(farm, secure::make_key()).status().code() == ErrorCode::unauthenticated);
  farm::FarmClient admin(farm.access());
  const auto added = admin.ask(farm::wire::AddClient{"guest", farm::wire::Role::user});
  REQUIRE_MESSAGE(added.is_ok(), added.status().message());
  const secure::Key key{added.value().psk};
  auto held = lease(farm, key);
  REQUIRE_MESSAGE(held.is_ok(), held.status().message());
  revoke(admin, CredentialKind::client, "guest");
  CHECK(held.value()->wait_for_end(std::chrono::seconds(3)).has_value());
  CHECK(lease(farm, key).status().code() == ErrorCode::unauthenticated);
  CHECK(lease(farm, farm.access().key).is_ok());
}

TEST_CASE("a board whose key is revoked leaves at once, and does not come back") {
  RealFarm farm(farm_of(2));
  farm.start_board(0);
  farm.start_board(1);
  farm.wait_for_boards(2);
  farm::FarmClient admin(farm.access());
  const auto begin = Clock::now();
  revoke(admin, CredentialKind::board, "b0");
  farm.tracker().wait_for("board b0 has left");
  CHECK(seconds_since(begin) < 1.5);
  // It dials again with pauses, and is told.
  farm.board(0).wait_for("it does not accept our key");
  farm.kill_board(0);
  farm.start_board(0);
  farm.board(0).wait_for("it does not accept our key");
  const auto page = admin.ask(farm::wire::ListDevices{});
  REQUIRE_MESSAGE(page.is_ok(), page.status().message());
  for (const auto& device : page.value().devices) {
    CAPTURE(device.name);
    CHECK(device.is_connected == (device.name == "b1"));
  }
  CHECK(lease(farm, farm.access().key, "b1").is_ok());
}

TEST_CASE("the secret of an enrolment serves once, and not at all once it is revoked") {
  RealFarm farm(farm_of(0));
  farm::FarmClient admin(farm.access());
  const auto enrol = [&](const std::string& name) {
    farm::wire::EnrolBoard order;
    order.name = name;
    const auto made = admin.ask(order);
    REQUIRE_MESSAGE(made.is_ok(), made.status().message());
    return secure::Key{made.value().psk};
  };
  const secure::Key secret = enrol("b0");
  farm.set_board_key(0, secret);
  farm.start_board(0);
  farm.wait_for_boards(1);
  farm.kill_board(0);
  farm.start_board(0);  // its file holds the key that it has been given
  farm.wait_for_boards(1);
  farm.set_board_key(1, secret);  // somebody else who has seen it
  farm.start_board(1);
  farm.board(1).wait_for("it does not accept our key");
  const secure::Key unused = enrol("b2");
  revoke(admin, CredentialKind::enrolment, "b2");
  farm.set_board_key(2, unused);
  farm.start_board(2);
  farm.board(2).wait_for("it does not accept our key");
  CHECK(!farm.board(0).has_ended());
}

TEST_CASE("the key of a lease is worthless once the lease is over") {
  RealFarm farm(farm_of(1));
  farm.start_board(0);
  farm.wait_for_boards(1);
  auto held = lease(farm, farm.access().key);
  REQUIRE_MESSAGE(held.is_ok(), held.status().message());
  const farm::wire::GrantedSlot slot = held.value()->slots().at(0);
  CHECK(open_session(slot.address, secure::Key{slot.psk}).is_ok());
  held.value()->release();
  // The tracker knows; the board will soon.
  const auto begin = Clock::now();
  while (seconds_since(begin) < 1 && open_session(slot.address, secure::Key{slot.psk}).is_ok())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(open_session(slot.address, secure::Key{slot.psk}).code() == ErrorCode::unauthenticated);
  auto next = lease(farm, farm.access().key);
  REQUIRE_MESSAGE(next.is_ok(), next.status().message());
  CHECK(open_session(slot.address, secure::Key{slot.psk}).code() == ErrorCode::unauthenticated);
  CHECK(open_session(slot.address, secure::Key{next.value()->slots().at(0).psk}).is_ok());
}

TEST_CASE("a token that is unknown or revoked opens nothing of the HTTP interface") {
  RealFarm farm(farm_of(1));
  httplib::Client http(farm.page_url());
  const auto status_with = [&](const std::string& token) {
    http.set_bearer_token_auth(token);
    const auto answer = http.Get("/api/v1/boards");
    return answer ? answer->status : 0;
  };
  farm::FarmClient admin(farm.access());
  const auto added = admin.ask(farm::wire::AddToken{"guest", farm::wire::Role::viewer});
  REQUIRE_MESSAGE(added.is_ok(), added.status().message());
  const std::string token = added.value().token;
  CHECK(status_with(token) == 200);
  CHECK(status_with("wrong") == 401);
  CHECK(status_with(token.substr(1)) == 401);
  revoke(admin, CredentialKind::token, "guest");
  CHECK(status_with(token) == 401);
}

}  // namespace
}  // namespace ferry::test
