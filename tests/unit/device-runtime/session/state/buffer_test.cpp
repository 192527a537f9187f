// Tests which bytes of a buffer depend on a failed request.
#include "device-runtime/session/state/buffer.h"

#include <doctest/doctest.h>

#include "device-runtime/device/null_device.h"
#include "rpc/transport/loopback.h"

namespace ferry::device {
namespace {

struct Fixture {
  MemoryBudget budget{1 << 20};
  NullDevice device{budget};
  std::unique_ptr<Buffer> buffer = std::move(Buffer::allocate(device, 1000).value());
  rpc::Connection connection{std::move(loopback_transport_pair().first)};
  Activity activity;
  RequestContext exchange{connection, rpc::FrameHeader{}, activity};

  bool good(std::uint64_t offset, std::uint64_t bytes) {
    return buffer->check_contents(exchange, 1, offset, bytes).is_ok();
  }
};

TEST_CASE_FIXTURE(Fixture, "fresh contents are good") { CHECK(good(0, 1000)); }

TEST_CASE_FIXTURE(Fixture, "a failed write spoils its range and no more") {
  buffer->mark_unwritten(100, 50, 7);
  CHECK(good(0, 100));
  CHECK(good(150, 850));
  CHECK_FALSE(good(99, 2));
  CHECK_FALSE(good(149, 2));
  CHECK_FALSE(good(0, 1000));
  CHECK(good(120, 0));
  CHECK(exchange.cause() == 7);
}

TEST_CASE_FIXTURE(Fixture, "pieces written in order make a spoilt range good step by step") {
  buffer->mark_unwritten(0, 1000, 7);
  for (std::uint64_t at = 0; at < 1000; at += 100) {
    CHECK_FALSE(good(at, 100));
    buffer->mark_written(at, 100);
    CHECK(good(0, at + 100));
  }
  CHECK(good(0, 1000));
}

TEST_CASE_FIXTURE(Fixture, "pieces written from the end work as well, a hole in the middle counts for nothing") {
  buffer->mark_unwritten(0, 1000, 7);
  buffer->mark_written(500, 500);
  CHECK(good(500, 500));
  buffer->mark_written(200, 100);
  CHECK_FALSE(good(200, 100));
  buffer->mark_written(0, 500);
  CHECK(good(0, 1000));
}

TEST_CASE_FIXTURE(Fixture, "two failures are covered together and the first is named") {
  buffer->mark_unwritten(100, 10, 7);
  buffer->mark_unwritten(500, 10, 8);
  CHECK_FALSE(good(300, 1));
  CHECK(exchange.cause() == 7);
}

TEST_CASE_FIXTURE(Fixture, "a range outside the buffer spoils all of it, one that wraps around too") {
  SUBCASE("beyond the end") { buffer->mark_unwritten(990, 20, 7); }
  SUBCASE("wrapping around") { buffer->mark_unwritten(10, ~std::uint64_t{0}, 7); }
  CHECK_FALSE(good(0, 1));
  CHECK_FALSE(good(999, 1));
  buffer->mark_written(0, 1000);
  CHECK(good(0, 1000));
}

TEST_CASE_FIXTURE(Fixture, "a failed write of nothing spoils nothing") {
  buffer->mark_unwritten(10, 0, 7);
  CHECK(good(0, 1000));
}

TEST_CASE_FIXTURE(Fixture, "writing elsewhere leaves a spoilt range as it is") {
  buffer->mark_unwritten(100, 100, 7);
  buffer->mark_written(0, 100);
  buffer->mark_written(200, 800);
  CHECK_FALSE(good(100, 1));
  CHECK_FALSE(good(199, 1));
}

}  // namespace
}  // namespace ferry::device
