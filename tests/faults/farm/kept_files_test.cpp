// What boards keep for later leases is each holder's own.
#include "farm/client/board_lease.h"
#include "farm/client/farm_client.h"
#include "rpc/secure/client_handshake.h"
#include "rpc/transport/tcp.h"
#include "rpc/wire/codec.h"
#include "tests/faults/farm/fault_farm.h"

namespace ferry::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

// A session in a lease, which ends with it.
class LeasedSession {
 public:
  LeasedSession(const RealFarm& farm, const secure::Key& key) {
    farm::FarmAccess access = farm.access();
    access.key = key;
    farm::LeaseOptions wanted{{"b0"}};
    wanted.wait = std::chrono::seconds(10);
    auto lease = farm::BoardLease::request(access, wanted);
    REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
    lease_ = std::move(lease.value());
    const farm::wire::GrantedSlot slot = lease_->slots().at(0);
    const TcpAddress board = parse_tcp_address(slot.address, 0).value();
    auto tcp = connect_tcp(board.host, board.port);
    REQUIRE_MESSAGE(tcp.is_ok(), tcp.status().message());
    auto transport = secure::encrypt_connection(std::move(tcp.value()), secure::Key{slot.psk}, std::chrono::seconds(5));
    REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
    connection_ = std::make_unique<rpc::Connection>(std::move(transport.value()));
    rpc::Open open;
    open.client = "a holder";
    ask(open);
  }

  // Whether the board has the blob for this session.
  bool has(const Bytes& blob) {
    const rpc::Frame answer = ask(rpc::FindBlobs{{blake2b(blob)}});
    const auto reply = rpc::decode<rpc::FindBlobsReply>(answer.body);
    REQUIRE_MESSAGE(reply.is_ok(), reply.status().message());
    return reply.value().missing.empty();
  }
  void put(const Bytes& blob) { ask(rpc::PutBlob{blake2b(blob), blob.size(), 0}, blob); }

 private:
  template <class Request>
  rpc::Frame ask(const Request& request, const Bytes& payload = {}) {
    const Status sent = connection_->send_request(++requests_, request, payload);
    REQUIRE_MESSAGE(sent.is_ok(), sent.message());
    auto frame = connection_->receive_frame();
    while (frame.is_ok() && frame.value().header.kind == rpc::FrameKind::event) frame = connection_->receive_frame();
    REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
    const Status failed = rpc::failure_of(frame.value());
    REQUIRE_MESSAGE(failed.is_ok(), failed.message());
    return std::move(frame.value());
  }

  std::unique_ptr<farm::BoardLease> lease_;
  std::unique_ptr<rpc::Connection> connection_;
  std::uint64_t requests_ = 0;
};

TEST_CASE("a holder finds on a board what he has stored there, and not what others have") {
  RealFarm farm(farm_of(1));
  farm.start_board(0);
  farm.wait_for_boards(1);
  const auto key_of = [&](const std::string& holder) {
    const auto added = farm::FarmClient(farm.access()).ask(farm::wire::AddClient{holder, farm::wire::Role::user});
    REQUIRE_MESSAGE(added.is_ok(), added.status().message());
    return secure::Key{added.value().psk};
  };
  const secure::Key anna = key_of("anna"), berta = key_of("berta");
  const Bytes weights(100'000, 7), others(100'000, 8);
  {
    LeasedSession session(farm, anna);
    CHECK_FALSE(session.has(weights));
    session.put(weights);
    CHECK(session.has(weights));
  }
  {
    LeasedSession session(farm, berta);
    CHECK_FALSE(session.has(weights));
    session.put(others);
    session.put(weights);
  }
  {
    LeasedSession session(farm, anna);
    CHECK(session.has(weights));
    CHECK_FALSE(session.has(others));
  }
  // The tracker and the board start again: the number of a holder stays the same.
  farm.kill_tracker();
  farm.kill_board(0);
  farm.start_tracker();
  farm.wait_until_scheduling();
  farm.start_board(0);
  farm.wait_for_boards(1);
  {
    LeasedSession session(farm, anna);
    CHECK(session.has(weights));
    CHECK_FALSE(session.has(others));
  }
  LeasedSession session(farm, berta);
  CHECK(session.has(others));
}

}  // namespace
}  // namespace ferry::test
