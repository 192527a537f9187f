// Tests of a session without a supervisor, process or socket, over the in-process queue, so that sanitizers see both
// ends.
#include "device-runtime/session/session.h"

#include <doctest/doctest.h>

#include <array>
#include <thread>

#include "device-runtime/facts/facts.h"
#include "rpc/transport/loopback.h"
#include "tests/unit/device-runtime/support/served_files.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::device {
namespace {

using test::TestClient;

// Serves one end of a queue on a thread and reads the opening like a supervisor; ends when the client disconnects.
class InProcessSession {
 public:
  explicit InProcessSession(std::unique_ptr<Transport> transport)
      : thread_([this, end = std::move(transport)]() mutable { serve(std::move(end)); }) {}
  ~InProcessSession() { thread_.join(); }
  InProcessSession(const InProcessSession&) = delete;
  InProcessSession& operator=(const InProcessSession&) = delete;

  const Activity& activity() const { return activity_; }

 private:
  void serve(std::unique_ptr<Transport> end) {
    std::array<std::uint8_t, rpc::kPreambleBytes> preamble{};
    std::array<std::uint8_t, rpc::kFrameHeaderBytes> head{};
    if (!end->receive(preamble).is_ok() || !end->receive(head).is_ok()) return;
    const auto header = rpc::decode_frame_header(head);
    if (!header.is_ok()) return;
    std::vector<std::uint8_t> body(header.value().body_bytes);
    if (!end->receive(body).is_ok()) return;
    run_session(std::move(end), {facts_}, {std::move(files_.broker()), {}}, activity_, {header.value(), body});
  }

  DeviceFacts facts_ = gather_facts({.server_version = "test", .flavour = "test", .threads = 2});
  test::ServedFiles files_{"/proc/nowhere", ""};
  Activity activity_;
  std::thread thread_;
};

struct Fixture {
  std::pair<std::unique_ptr<Transport>, std::unique_ptr<Transport>> ends = loopback_transport_pair();
  InProcessSession session{std::move(ends.second)};
  std::unique_ptr<TestClient> client = std::make_unique<TestClient>(std::move(ends.first));
};

TEST_CASE_FIXTURE(Fixture, "the opening names the device and later facts repeat it") {
  CHECK(client->facts().server_version == "test");
  CHECK(client->must(rpc::Facts{}).reply.facts.features == client->facts().features);
}

TEST_CASE_FIXTURE(Fixture, "a kernel is put, called and measured over a queue") {
  const rpc::Handle module = test::put(*client, test::kit_file());
  // The folder for modules does not exist: the client is informed, and the module works nevertheless.
  client->must(rpc::Ping{});
  CHECK(client->logged().find("cannot keep the module in here: No such file or directory") == 0);
  const auto a = client->upload(std::vector<float>{1, 2, 3});
  CHECK(client->ask(rpc::Call{module, "scale", {test::scalar(2.0F), test::tensor(a, {3})}}).status.is_ok());
  CHECK(client->download<float>(a, 3) == std::vector<float>{2, 4, 6});
  rpc::Evaluate measure;
  measure.calls = {{module, "say", {}}};
  measure.options.repeat = 3;
  CHECK(client->must(measure).reply.calls.front().seconds.size() == 3);
}

TEST_CASE_FIXTURE(Fixture, "close is answered and ends the session") {
  CHECK(client->ask(rpc::Close{}).status.is_ok());
  CHECK(client->next_response().status().code() == ErrorCode::unavailable);
}

TEST_CASE_FIXTURE(Fixture, "between requests the activity page says that nothing is under way") {
  client->must(rpc::Ping{});
  client->must(rpc::Ping{});
  client->must(rpc::Close{});
  CHECK_FALSE(client->next_response().is_ok());
  CHECK(session.activity().request == 0);
  CHECK_FALSE(session.activity().sending);
  CHECK_FALSE(session.activity().in_kernel);
}

TEST_CASE_FIXTURE(Fixture, "a response where a request should stand ends the session with the reason") {
  rpc::FrameHeader header{rpc::FrameKind::response, 2};
  header.request = 5;
  REQUIRE(client->connection().send_frame(header, {}).is_ok());
  const auto last = client->next_response();
  REQUIRE_MESSAGE(last.is_ok(), last.status().message());
  CHECK(last.value().header.request == 0);
  CHECK(rpc::failure_of(last.value()).message() == "expected a request, got a response or an event");
}

}  // namespace
}  // namespace ferry::device
