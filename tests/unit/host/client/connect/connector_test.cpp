// Tests what sessions make of a connector, with a scheme of the test's own: board://NAME, whose boards are leased and
// stand for a server on this machine. A new scheme needs the same parts.
#include "host/client/connect/connector.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "base/throw_status.h"
#include "host/client/connect/local_server.h"
#include "host/client/connect_to.h"
#include "rpc/transport/loopback.h"
#include "rpc/transport/socket.h"

using namespace ferry;
using namespace ferry::session;

namespace {

// What a test has arranged and what it has seen.
struct Boards {
  std::string why_ended;   // the lease; empty: it goes on
  std::string gone;        // how the server has ended; empty: it runs
  bool is_reached = true;  // otherwise connections break at once
  bool is_shared = false;  // whether the server serves others too
  int leases = 0, links = 0;
};

class BoardLease final : public Lease {
 public:
  explicit BoardLease(Boards& boards) : boards_(boards) { ++boards_.leases; }
  ~BoardLease() override { --boards_.leases; }
  std::chrono::milliseconds remaining() const override { return std::chrono::minutes(1); }
  std::string why_ended() const override { return boards_.why_ended; }

 private:
  Boards& boards_;
};

class GoneServer final : public SessionServer {
 public:
  explicit GoneServer(std::string how) : how_(std::move(how)) {}
  void check_running() override {
    if (!how_.empty()) throw Error(ErrorCode::unavailable, how_);
  }

 private:
  std::string how_;
};

// Boards of one command share a lease.
class BoardConnector final : public Connector {
 public:
  BoardConnector(Boards& boards, std::shared_ptr<const Lease> lease, std::string name)
      : boards_(boards), lease_(std::move(lease)), name_(std::move(name)) {}

  const std::shared_ptr<const Lease>& lease() const { return lease_; }

  Link open(const ConnectOptions&) override {
    ++boards_.links;
    Link link;
    link.name = name_ + " (board://" + name_ + ")";
    link.board = "lab/" + name_;
    link.lease = lease_;
    if (!boards_.is_reached) {
      auto [near, far] = loopback_transport_pair();
      link.transport = std::move(near);
      if (!boards_.is_shared) link.server = std::make_unique<GoneServer>(boards_.gone);
      far->close();
      return link;
    }
    auto server = std::make_unique<LocalServer>(find_rpc_server());
    link.transport = value_or_throw(wrap_socket(server->take_socket()));
    link.server = std::move(server);
    return link;
  }

 private:
  Boards& boards_;
  std::shared_ptr<const Lease> lease_;
  std::string name_;
};

Scheme board_scheme(Boards& boards) {
  return {.prefix = "board://",
          .form = "board://NAME",
          .connector =
              [&boards](const Remote& remote, const Connectors& earlier) {
                std::shared_ptr<const Lease> lease;
                for (const auto& one : earlier)
                  if (const auto* other = dynamic_cast<const BoardConnector*>(one.get())) lease = other->lease();
                if (lease == nullptr) lease = std::make_shared<BoardLease>(boards);
                return std::make_shared<BoardConnector>(boards, lease, remote.address.substr(8));
              },
          .is_leased = true};
}

Schemes schemes_with(Boards& boards) {
  Schemes schemes;
  schemes.add(board_scheme(boards));
  return schemes;
}

Error error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  FAIL("expected an Error");
  return {ErrorCode::ok, ""};
}

}  // namespace

TEST_CASE("a device has the names that its connector gives, and keeps its lease until it is gone") {
  Boards boards;
  {
    DeviceTensor last;
    {
      const Device device = connect_to(schemes_with(boards), "board://pi-3", {});
      CHECK(device.name() == "pi-3 (board://pi-3)");
      CHECK(device.board() == "lab/pi-3");
      last = device.filled(DType::f32, {4}, FillKind::ones);
    }
    CHECK(last.to_vector<float>() == std::vector<float>{1, 1, 1, 1});
    CHECK(boards.leases == 1);
  }
  CHECK(boards.leases == 0);
}

TEST_CASE("connectors of one command share a lease, and each opens sessions of its own") {
  Boards boards;
  const Schemes schemes = schemes_with(boards);
  ConnectOptions options;
  {
    Connectors connectors = schemes.shared_connectors({"board://a", "127.0.0.1:1", "board://b", "nowhere://c"}, "");
    REQUIRE(connectors.size() == 4);
    CHECK(connectors[1] == nullptr);
    CHECK(connectors[3] == nullptr);
    CHECK(boards.leases == 1);
    CHECK(boards.links == 0);
    options.board = connectors[2];
  }
  const Device first = connect_to(schemes, "board://b", options), second = connect_to(schemes, "board://b", options);
  CHECK(first.board() == "lab/b");
  CHECK(boards.links == 2);
  CHECK(boards.leases == 1);
}

TEST_CASE("a link that breaks before the session is open is opened again, unless the server is its own") {
  Boards boards;
  boards.is_reached = false;
  boards.is_shared = true;
  std::vector<std::string> lines;
  ConnectOptions options;
  options.log = [&](const std::string& line) { lines.push_back(line); };
  const auto connect = [&] { connect_to(schemes_with(boards), "board://pi", options); };
  CHECK(error_of(connect).code() == ErrorCode::unavailable);
  CHECK(boards.links == 3);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("; nothing has run there yet, so trying again") != std::string::npos);
  boards.is_shared = false;
  CHECK(std::string(error_of(connect).what()).find("the connection to pi (board://pi) is gone: ") == 0);
  CHECK(boards.links == 4);
  boards.gone = "the server of pi has ended: exit code 7";
  CHECK(error_of(connect).what() == boards.gone);
  CHECK(boards.links == 5);
}

TEST_CASE("why a lease has ended is said once, with what broke because of it") {
  Boards boards;
  boards.is_reached = false;
  boards.why_ended = "the lease of pi has ended: revoked";
  const auto connect = [&] { connect_to(schemes_with(boards), "board://pi", {}); };
  const std::string broken = error_of(connect).what();
  CHECK(broken.find(boards.why_ended + " (the connection to pi (board://pi) is gone: ") == 0);
  CHECK(broken.find(boards.why_ended, 1) == std::string::npos);
  boards.gone = "it has ended";
  CHECK(std::string(error_of(connect).what()) == boards.why_ended + " (it has ended)");
}

TEST_CASE("a session that ends with its lease says why") {
  Boards boards;
  int socket = -1;
  const auto connector = schemes_with(boards).connector("board://pi", "");
  const Device device = connect_to(*connector, {}, [&](int opened) { socket = opened; });
  boards.why_ended = "the lease of pi has ended: revoked";
  REQUIRE(shutdown(socket, SHUT_RDWR) == 0);
  const std::string why = error_of([&] { device.synchronize(); }).what();
  CHECK(why.find(boards.why_ended + " (the connection to pi (board://pi) is gone: ") == 0);
}

TEST_CASE("each socket is shown before anything is sent over it") {
  Boards boards;
  std::vector<int> sockets;
  const auto connector = schemes_with(boards).connector("board://pi", "");
  const Device device = connect_to(*connector, {}, [&](int socket) { sockets.push_back(socket); });
  REQUIRE(sockets.size() == 1);
  CHECK(sockets[0] >= 0);
}

TEST_CASE("a scheme that was added is named in messages, serves names of devices.toml, and may replace another") {
  Boards boards;
  Schemes schemes = schemes_with(boards);
  char folder[] = "/tmp/ferry-connector-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string file = std::string(folder) + "/devices.toml";
  std::ofstream(file) << "[pi]\naddress = \"board://pi-4\"\n";
  setenv("FERRY_DEVICES", file.c_str(), 1);
  CHECK(connect_to(schemes, "pi", {}).board() == "lab/pi-4");
  CHECK_FALSE(schemes.is_on_this_machine("pi"));
  unsetenv("FERRY_DEVICES");
  std::filesystem::remove_all(folder);
  CHECK(std::string(error_of([&] { schemes.connector("bord://pi", ""); }).what()) ==
        "expected HOST:PORT, ssh://HOST, board://NAME or plaintext://HOST:PORT, got 'bord://pi'");
  Boards others;
  schemes.add(board_scheme(others));
  schemes.connector("board://pi", "");
  CHECK(connect_to(schemes, "board://pi", {}).board() == "lab/pi");
  CHECK(others.links == 1);
}
