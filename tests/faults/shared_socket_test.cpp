// Tests of sessions that change the client's socket, which they share with the server, so that the server waits for
// their client. A GPU's filter allows more, so each is tried with both. They run natively, because emulators do not
// confine processes.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/faults/session_kernels.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

rpc::Open with_devices(const std::vector<std::string>& devices) {
  rpc::Open open;
  open.devices = devices;
  return open;
}

const std::vector<std::vector<std::string>> kKinds = {{}, {"opencl"}};

// Returns the longest time for which the server did not answer a question for its status, which only its one thread
// does, within so many seconds.
double longest_silence(const TestServer& server, seconds time) {
  double longest = 0;
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
    const auto begin = Clock::now();
    rpc::Connection connection(connect_to(server.port()));
    connection.put_preamble_before_first_frame({});
    REQUIRE(connection.send_request(1, rpc::GetStatus{}).is_ok());
    const auto frame = connection.receive_frame();
    CHECK_MESSAGE(frame.is_ok(), frame.status().message());
    longest = std::max(longest, std::chrono::duration<double>(Clock::now() - begin).count());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return longest;
}

TEST_CASE("a session that lets its socket linger, and whose client does not read, does not hold up the server") {
  for (const auto& devices : kKinds) {
    CAPTURE(devices.size());
    TestServer server({"--sessions", "1"});
    rpc::Open open = with_devices(devices);
    open.limits.session_ms = 1500;
    TestClient client(server.port(), open);
    const std::size_t bytes = 64 << 20;
    const rpc::Handle memory = client.new_handle();
    client.must(rpc::Alloc{memory, bytes, 0});
    // How long it lingers is less than for how long tests wait for an answer, so that this fails and does not hang.
    const auto results = run_session_kernel(client, put(client, session_kernels()), "linger", {15});
    if (!devices.empty()) CHECK(results[0] > 0);
    client.send(rpc::Read{memory, 0, bytes});
    CHECK(longest_silence(server, seconds(4)) < next_session_limit());
    check_next_session(server);
  }
}

TEST_CASE("nor does one whose last frame its client does not read") {
  for (const auto& devices : kKinds) {
    CAPTURE(devices.size());
    TestServer server({"--sessions", "1"});
    rpc::Open open = with_devices(devices);
    open.limits.call_ms = 500;
    TestClient client(server.port(), open);
    SystemCaller call(client);
    const rpc::Handle module = put(client, session_kernels());
    run_session_kernel(client, module, "linger", {15});
    std::int64_t socket = 3;
    while (socket < 64 && call(SYS_sendto, {socket, SystemCaller::kText, 0, 0}, "x") != 0) ++socket;
    if (!devices.empty()) REQUIRE(socket < 64);
    // Fills the socket's memory with what is no frame, until the limit of calls ends it; what does not fit is refused
    // at once.
    constexpr std::int64_t kBytes = 1 << 20;
    rpc::Call fill{put(client, kit_file()), "system", {}};
    for (const std::int64_t value : {std::int64_t{SYS_sendto}, socket, SystemCaller::kText, kBytes,
                                     std::int64_t{MSG_DONTWAIT}, std::int64_t{1} << 40})
      fill.arguments.push_back(scalar(value));
    fill.arguments.push_back(tensor(client.upload(std::vector<std::uint8_t>(kBytes, 'x')), {kBytes}, DType::u8));
    fill.arguments.push_back(tensor(client.upload(std::vector<std::int64_t>{0}), {1}, DType::i64));
    client.send(fill);
    CHECK(longest_silence(server, seconds(5)) < next_session_limit());
    check_next_session(server);
  }
}

}  // namespace
}  // namespace ferry::test
