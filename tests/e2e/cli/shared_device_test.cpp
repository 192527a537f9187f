// Tests of a device that several users share: who holds it, who waits, and the time limits.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "rpc/transport/tcp.h"
#include "rpc/wire/connection.h"
#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"

using namespace ferry;
using test::Outcome;
using test::run_ferry;

namespace {

const std::string kServer = std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/dynamic/rpc_server";

// Another client, which holds the device for the lifetime of this object.
class Holder {
 public:
  explicit Holder(const test::ListeningServer& server)
      : connection_(std::move(connect_tcp("127.0.0.1", static_cast<std::uint16_t>(server.port())).value())) {
    connection_.put_preamble_before_first_frame({});
    rpc::Open open;
    open.client = "a nightly job";
    REQUIRE(connection_.send_request(1, open).is_ok());
    REQUIRE(connection_.receive_frame().is_ok());
  }

 private:
  rpc::Connection connection_;
};

}  // namespace

TEST_CASE("status answers while somebody has the device, as text and as JSON") {
  const test::ListeningServer server(kServer);
  const Holder holder(server);
  const Outcome text = run_ferry({"status", "--remote", server.address()});
  CAPTURE(text.err);
  CHECK(text.code == 0);
  CHECK(text.out.find("1 of 1 sessions, 0 of 64 waiting; 0 ended") != std::string::npos);
  CHECK(text.out.find("session 1: a nightly job from 127.0.0.1:") != std::string::npos);
  const auto json = nlohmann::json::parse(run_ferry({"status", "--remote", server.address(), "--json"}).out);
  CHECK(json.at("sessions").at(0).at("client") == "a nightly job");
  CHECK(json.at("max_sessions") == 1);
  CHECK(json.at("waiting").empty());
}

TEST_CASE("who does not want to wait gives up, and reads who has the device") {
  const test::ListeningServer server(kServer);
  const Holder holder(server);
  const Outcome outcome = run_ferry({"device", "--remote", server.address(), "--queue-deadline", "0.3"});
  CHECK(outcome.code == 3);
  CHECK(outcome.err.find("gave up waiting for ") != std::string::npos);
  CHECK(outcome.err.find(" at place 1; it is held by a nightly job\n") != std::string::npos);
  CHECK(outcome.seconds < 3);
}

TEST_CASE("a kernel that takes longer than its deadline is stopped and named") {
  const test::ListeningServer server(kServer, {}, {"--threads", "1"});
  const Outcome outcome = run_ferry({"run", "-e", test::kMatmul, "--size", "M=4000,N=4000,K=4000", "--remote",
                                     server.address(), "--call-deadline", "0.05"});
  CHECK(outcome.code == 1);
  CAPTURE(outcome.err);
  CHECK(outcome.err.find("mm was stopped after 0.") != std::string::npos);
  CHECK(outcome.err.find("the limit of a call is 0.1 s") != std::string::npos);
}
