// Tests of kernels that overwrite the memory through which the server watches their session, and of the server's
// reaction.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "device-runtime/measure/clock.h"
#include "device-runtime/supervisor/activity_pages.h"
#include "device-runtime/supervisor/session_watch.h"
#include "tests/unit/device-runtime/support/memory_kernels.h"
#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

using device::look_at;
using device::SeenActivity;

rpc::StatusReply status_of(const TestServer& server) {
  rpc::Connection connection(connect_to(server.port()));
  connection.put_preamble_before_first_frame({});
  REQUIRE(connection.send_request(1, rpc::GetStatus{}).is_ok());
  const auto frame = connection.receive_frame();
  REQUIRE_MESSAGE(frame.is_ok(), frame.status().message());
  return rpc::decode<rpc::StatusReply>(frame.value().body).value();
}

// A page written by an honest session.
struct Page {
  device::ActivityPages pages{1};
  device::ActivityPage page = std::move(pages.take().value());
  device::Activity& activity = page.activity();
  std::int64_t begin = device::now_ns();

  Page() {
    activity.started_ns.store(begin);
    activity.tag.store(static_cast<std::uint16_t>(rpc::Tag::Call));
    activity.request.store(7);
    activity.begin_kernel("blur");
  }
  SeenActivity look() const { return look_at(activity, begin); }
};

TEST_CASE("what an honest session says is seen as it is") {
  Page page;
  const SeenActivity seen = page.look();
  CHECK_FALSE(seen.is_damaged);
  CHECK(seen.request == 7);
  CHECK(seen.in_kernel);
  CHECK(seen.function == "blur");
  CHECK(seen.sealed == 0);
  page.activity.begin_kernel(std::string(10'000, 'x'));
  CHECK(page.look().function == std::string(255, 'x'));
  page.activity.end_kernel();
  CHECK(page.look().function.empty());
}

TEST_CASE("measured times that no session of this age can have are seen as damage") {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto is_damaged = [](std::int64_t total_ns, std::int64_t ended_ns) {
    Page page;
    page.activity.measured.set({7, 100, total_ns, page.begin + ended_ns});
    return page.look().is_damaged;
  };
  CHECK_FALSE(is_damaged(0, 0));
  CHECK_FALSE(is_damaged(kSecond, 0));
  CHECK(is_damaged(-1, 0));
  CHECK(is_damaged(5 * kSecond, 0));
  CHECK(is_damaged(std::numeric_limits<std::int64_t>::max(), 0));
  CHECK(is_damaged(0, 5 * kSecond));
  CHECK(is_damaged(0, std::numeric_limits<std::int64_t>::min() / 2));
}

TEST_CASE("a page that is filled with one byte, whichever, is seen to be damaged") {
  for (int byte = 0; byte < 256; ++byte) {
    Page page;
    std::memset(static_cast<void*>(&page.activity), byte, sizeof page.activity);
    CHECK(page.look().is_damaged);
    CHECK_FALSE(page.look().in_kernel);
  }
}

TEST_CASE("a run of bytes that comes in over either end is seen before it reaches anything else") {
  for (std::size_t length = 1; length <= sizeof(device::Activity); length += 7) {
    Page above, below;
    auto* const bytes = reinterpret_cast<char*>(&above.activity);
    std::memset(bytes, 'A', length);
    CHECK(above.look().is_damaged);
    std::memset(reinterpret_cast<char*>(&below.activity) + sizeof(device::Activity) - length, 'A', length);
    CHECK(below.look().is_damaged);
  }
}

TEST_CASE("fields with values that no session writes are seen to be damaged, each by itself") {
  const auto damaged = [](const std::function<void(device::Activity&)>& damage) {
    Page page;
    damage(page.activity);
    return page.look().is_damaged;
  };
  CHECK(damaged([](device::Activity& activity) { activity.in_kernel.store(2); }));
  CHECK(damaged([](device::Activity& activity) { activity.sending.store(0x41); }));
  CHECK(damaged([](device::Activity& activity) { activity.started_ns.store(1); }));
  CHECK(damaged([](device::Activity& activity) { activity.started_ns.store(INT64_MAX); }));
  CHECK(damaged([](device::Activity& activity) { activity.started_ns.store(-1); }));
  CHECK(damaged([](device::Activity& activity) { std::memset(activity.function, 'A', sizeof activity.function); }));
  CHECK_FALSE(damaged([](device::Activity&) {}));
}

TEST_CASE("random bytes anywhere in the page are read without harm, the last words and the crash included") {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    Page page;
    auto* const bytes = reinterpret_cast<unsigned char*>(&page.activity);
    const std::size_t first = random() % sizeof(device::Activity);
    const std::size_t count = 1 + random() % (sizeof(device::Activity) - first);
    for (std::size_t i = 0; i < count; ++i) bytes[first + i] = static_cast<unsigned char>(random());
    const SeenActivity seen = page.look();
    CHECK(seen.function.size() < sizeof page.activity.function);
    CHECK(page.activity.printed.last().size() <= sizeof page.activity.printed.text);
  }
}

TEST_CASE("pages given out again are fresh, and their number is limited") {
  device::ActivityPages pages(2);
  {
    const device::ActivityPage first = std::move(pages.take().value()), second = std::move(pages.take().value());
    CHECK(pages.take().status().code() == ErrorCode::resource_exhausted);
    first.activity().request.store(1);
    CHECK(second.activity().request.load() == 0);
  }
  CHECK(pages.take().value().activity().request.load() == 0);
}

TEST_CASE("a call's deadline runs by the watch's own clock, whatever the page says of its start") {
  constexpr std::int64_t kMs = device::kNanosecondsPerMs;
  const std::int64_t begin = device::now_ns();
  device::SessionWatch watch({1000, 0, 0}, begin);
  SeenActivity seen;
  seen.in_kernel = true;
  seen.function = "blur";
  seen.started_ns = begin + 10 * kMs;
  CHECK(watch.check(seen, -1, begin + 300 * kMs).is_ok());
  CHECK(watch.ns_until_next_limit() == 710 * kMs);
  CHECK(watch.check(seen, -1, begin + 1000 * kMs).is_ok());
  CHECK(watch.check(seen, -1, begin + 1010 * kMs).code() == ErrorCode::deadline_exceeded);
  // A start in the future counts from when it was first seen, one in the past from the previous check.
  device::SessionWatch other({1000, 0, 0}, begin);
  seen.started_ns = begin + 1'000'000 * kMs;
  CHECK(other.check(seen, -1, begin + 300 * kMs).is_ok());
  CHECK(other.check(seen, -1, begin + 1300 * kMs).code() == ErrorCode::deadline_exceeded);
  device::SessionWatch third({1000, 0, 0}, begin);
  seen.started_ns = begin - 1'000'000 * kMs;
  CHECK(third.check(seen, -1, begin + 300 * kMs).is_ok());
  CHECK(third.check(seen, -1, begin + 1000 * kMs).code() == ErrorCode::deadline_exceeded);
}

void overwrite(TestClient& client, std::int64_t byte, bool then_spin) {
  client.send(rpc::Call{put(client, memory_kernels()),
                        "overwrite_shared",
                        {scalar(byte), scalar(std::int64_t{then_spin}), maps_of(client)}});
}

TEST_CASE("a kernel that overwrites what it is watched by costs its session alone, however long it would go on") {
  for (const std::int64_t byte : {0, 1, 0x41, 0xff}) {
    for (const bool then_spin : {false, true}) {
      CAPTURE(byte);
      CAPTURE(then_spin);
      TestServer server({"--sessions", "2"});
      TestClient client(server.port());
      overwrite(client, byte, then_spin);
      // Ask for the status while the kernel overwrites the page; this once made the server read without end.
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const rpc::StatusReply status = status_of(server);
      CHECK(status.max_sessions == 2);
      Status ended;
      while (ended.is_ok()) {
        const auto frame = client.next_response();
        ended = frame.is_ok() ? rpc::failure_of(frame.value()) : frame.status();
      }
      CHECK((ended.code() == ErrorCode::kernel_crashed || ended.code() == ErrorCode::unavailable));
      check_next_session(server);
      CHECK(server.errors().find("over what the server watches its session by") != std::string::npos);
    }
  }
}

TEST_CASE("tensors that are overrun by up to 2 MiB, upwards and downwards, cost their session alone") {
  TestServer server({"--sessions", "2"});
  TestClient neighbour(server.port());
  for (const std::int64_t tensor_bytes : {64, 4096, 100'000, 131'072, 1'000'000, 4'194'304}) {
    for (const std::int64_t bytes : {1, 4096, 65'536, 300'000, 2'097'152}) {
      for (const std::int64_t step : {1, -1, 4096}) {
        CAPTURE(tensor_bytes);
        CAPTURE(bytes);
        CAPTURE(step);
        TestClient client(server.port());
        const rpc::Handle tensor_handle = client.new_handle();
        client.must(rpc::Alloc{tensor_handle, static_cast<std::uint64_t>(tensor_bytes), 0});
        const std::uint64_t id = client.send(rpc::Call{
            put(client, memory_kernels()),
            "overrun",
            {scalar(bytes / (step > 1 ? step : 1)), scalar(step), tensor(tensor_handle, {tensor_bytes}, DType::u8)}});
        CHECK(id != 0);
        CHECK(status_of(server).sessions.size() >= 1);
        CHECK(neighbour.ask(rpc::Ping{}).status.is_ok());
      }
    }
  }
  check_next_session(server);
}

}  // namespace
}  // namespace ferry::test
