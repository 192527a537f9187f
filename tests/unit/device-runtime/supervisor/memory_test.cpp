// Tests of tensor memory through a real server: written data is read back, limits hold, and failures propagate to
// dependent requests.
#include <doctest/doctest.h>

#include <numeric>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

Bytes pattern(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + (i >> 12));
  return bytes;
}

TEST_CASE("what was written is read back, whole and in parts") {
  TestServer server;
  TestClient client(server.port());
  const Bytes data = pattern(3'000'001);
  client.must(rpc::Alloc{1, data.size(), 0});
  CHECK(client.must(rpc::Read{1, 0, 1000}).payload == Bytes(1000, 0));  // fresh memory is zero
  client.must(rpc::Write{1, 0}, ByteSpan(data).first(2'000'000));
  client.must(rpc::Write{1, 2'000'000}, ByteSpan(data).subspan(2'000'000));
  CHECK(client.must(rpc::Read{1, 0, data.size()}).payload == data);
  const Bytes middle = client.must(rpc::Read{1, 1'999'990, 20}).payload;
  CHECK(std::equal(middle.begin(), middle.end(), data.begin() + 1'999'990));
  CHECK(client.must(rpc::Read{1, data.size(), 0}).payload.empty());
  client.must(rpc::Free{1});
  CHECK(client.ask(rpc::Read{1, 0, 1}).status.message() == "there is no buffer 1");
}

TEST_CASE("ranges outside a buffer are refused, also those that wrap around") {
  TestServer server;
  TestClient client(server.port());
  client.must(rpc::Alloc{1, 100, 0});
  for (const auto& [offset, bytes] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 101}, {100, 1}, {101, 0}, {~0ULL, 2}, {50, ~0ULL}, {~0ULL - 1, ~0ULL}}) {
    CAPTURE(offset);
    CAPTURE(bytes);
    CHECK(client.ask(rpc::Read{1, offset, bytes}).status.code() == ErrorCode::invalid_argument);
    CHECK(client.ask(rpc::Copy{1, offset, 1, 0, bytes}).status.code() == ErrorCode::invalid_argument);
  }
  CHECK(client.ask(rpc::Read{1, 90, 20}).status.message() ==
        "buffer 1: expected a range within 100 bytes, got 20 bytes at 90");
}

TEST_CASE("handles are the client's, but 0 and those in use are refused") {
  TestServer server;
  TestClient client(server.port());
  client.must(rpc::Alloc{~0ULL, 10, 0});
  CHECK(client.ask(rpc::Alloc{0, 10, 0}).status.code() == ErrorCode::invalid_argument);
  CHECK(client.ask(rpc::Alloc{~0ULL, 10, 0}).status.code() == ErrorCode::invalid_argument);
  CHECK(client.ask(rpc::Free{5}).status.code() == ErrorCode::not_found);
  CHECK(client.ask(rpc::Alloc{7, 10, 1}).status.message() == "expected a device below 1, got 1");
}

TEST_CASE("copies may overlap, fills are what ferry/fill.h says") {
  TestServer server;
  TestClient client(server.port());
  std::vector<std::int32_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const rpc::Handle buffer = client.upload(numbers);
  client.must(rpc::Copy{buffer, 40, buffer, 0, 3960});
  auto moved = client.download<std::int32_t>(buffer, 1000);
  CHECK(moved[9] == 9);
  CHECK(moved[10] == 0);
  CHECK(moved[999] == 989);
  for (const FillKind kind : {FillKind::zeros, FillKind::ones, FillKind::iota, FillKind::random}) {
    client.must(rpc::Fill{buffer, kind, DType::f32, 1000, 42});
    std::vector<float> expected(1000);
    fill(kind, 42, DType::f32, 0, 1000, expected.data());
    CHECK(client.download<float>(buffer, 1000) == expected);
  }
  CHECK(client.ask(rpc::Fill{buffer, FillKind::ones, DType::f32, 1001, 0}).status.code() ==
        ErrorCode::invalid_argument);
  CHECK(client.ask(rpc::Fill{buffer, FillKind::ones, DType::f64, ~0ULL, 0}).status.code() ==
        ErrorCode::invalid_argument);
}

TEST_CASE("a large fill from several threads is the same as one from a single thread") {
  TestServer server({"--threads", "4"});
  TestClient client(server.port());
  const std::size_t count = 1'000'003;
  client.must(rpc::Alloc{1, count * 4, 0});
  client.must(rpc::Fill{1, FillKind::random, DType::f32, count, 7});
  std::vector<float> expected(count);
  fill(FillKind::random, 7, DType::f32, 0, count, expected.data());
  CHECK(client.download<float>(1, count) == expected);
}

TEST_CASE("the memory limit refuses before taking memory, and what is freed can be had again") {
  TestServer server({"--memory-limit", "1M"});
  TestClient client(server.port());
  CHECK(client.ask(rpc::Alloc{1, std::uint64_t{1} << 62, 0}).status.code() == ErrorCode::resource_exhausted);
  client.must(rpc::Alloc{2, 600'000, 0});
  const auto refused = client.ask(rpc::Alloc{3, 600'000, 0});
  CHECK(refused.status.code() == ErrorCode::resource_exhausted);
  CHECK(refused.status.message() ==
        "expected at most 448576 bytes, got 600000: 600000 of this session's limit of 1048576 are in use "
        "(rpc_server --memory-limit)");
  client.must(rpc::Free{2});
  client.must(rpc::Alloc{4, 600'000, 0});
  TestClient other(server.port());
  other.must(rpc::Alloc{1, 600'000, 0});  // each session has its own limit
}

TEST_CASE("what depends on a failed alloc is aborted and names it, and its payload is drained") {
  TestServer server({"--memory-limit", "1M"});
  TestClient client(server.port());
  const std::uint64_t alloc = client.send(rpc::Alloc{1, 2'000'000, 0});
  const Bytes data(2'000'000, 5);
  const std::uint64_t write = client.send(rpc::Write{1, 0}, data);
  const std::uint64_t read = client.send(rpc::Read{1, 0, 2'000'000});
  const std::uint64_t second = client.send(rpc::Alloc{2, 100, 0});
  const std::uint64_t copy = client.send(rpc::Copy{2, 0, 1, 0, 100});
  const std::uint64_t after_copy = client.send(rpc::Read{2, 0, 100});
  const std::uint64_t ping = client.send(rpc::Ping{});
  CHECK(client.receive<rpc::Alloc>(alloc).status.code() == ErrorCode::resource_exhausted);
  const auto aborted_write = client.receive<rpc::Write>(write);
  CHECK(aborted_write.status.code() == ErrorCode::aborted);
  CHECK(aborted_write.failed_request == alloc);
  CHECK(aborted_write.status.message() ==
        "buffer 1 was to be made by request " + std::to_string(alloc) + ", which failed");
  CHECK(client.receive<rpc::Read>(read).failed_request == alloc);
  CHECK(client.receive<rpc::Alloc>(second).status.is_ok());
  CHECK(client.receive<rpc::Copy>(copy).failed_request == alloc);
  const auto chained = client.receive<rpc::Read>(after_copy);
  CHECK(chained.status.code() == ErrorCode::aborted);
  CHECK(chained.failed_request == alloc);  // the original failure
  CHECK(client.receive<rpc::Ping>(ping).status.is_ok());
  // After Free, the failure is forgotten and the handle does not exist.
  client.must(rpc::Free{1});
  CHECK(client.ask(rpc::Read{1, 0, 1}).status.code() == ErrorCode::not_found);
}

TEST_CASE("a buffer whose write failed is good again once that part was written") {
  TestServer server;
  TestClient client(server.port());
  client.must(rpc::Alloc{1, 1000, 0});
  client.must(rpc::Alloc{2, 10, 0});
  const Bytes data(1000, 9);
  const std::uint64_t failed = client.send(rpc::Copy{1, 0, 99, 0, 500});  // there is no buffer 99
  CHECK(client.receive<rpc::Copy>(failed).status.code() == ErrorCode::not_found);
  const auto aborted = client.ask(rpc::Read{1, 499, 1});
  CHECK(aborted.status.code() == ErrorCode::aborted);
  CHECK(aborted.failed_request == failed);
  CHECK(client.ask(rpc::Read{1, 500, 500}).status.is_ok());  // the copy did not affect this part
  client.must(rpc::Write{1, 0}, ByteSpan(data).first(300));
  CHECK(client.ask(rpc::Read{1, 0, 300}).status.is_ok());
  CHECK(client.ask(rpc::Read{1, 0, 301}).status.code() == ErrorCode::aborted);
  client.must(rpc::Write{1, 300}, ByteSpan(data).first(200));
  CHECK(client.must(rpc::Read{1, 0, 500}).payload == Bytes(500, 9));
  // A write that exceeds the buffer may have been meant for any part of it.
  CHECK(client.ask(rpc::Write{2, 8}, ByteSpan(data).first(10)).status.code() == ErrorCode::invalid_argument);
  CHECK(client.ask(rpc::Read{2, 0, 1}).status.code() == ErrorCode::aborted);
  client.must(rpc::Fill{2, FillKind::ones, DType::u8, 10, 0});
  CHECK(client.must(rpc::Read{2, 0, 10}).payload == Bytes(10, 1));
}

TEST_CASE("thousands of requests can be under way at once and are answered in order") {
  TestServer server;
  TestClient client(server.port());
  client.must(rpc::Alloc{1, 64, 0});
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 5000; ++i) {
    const std::uint8_t byte = static_cast<std::uint8_t>(i);
    ids.push_back(i % 2 == 0 ? client.send(rpc::Write{1, 0}, {&byte, 1}) : client.send(rpc::Read{1, 0, 1}));
  }
  int wrong = 0;
  for (int i = 0; i < 5000; ++i) {
    if (i % 2 == 0) {
      if (!client.receive<rpc::Write>(ids[static_cast<std::size_t>(i)]).status.is_ok()) ++wrong;
    } else {
      const auto read = client.receive<rpc::Read>(ids[static_cast<std::size_t>(i)]);
      if (read.payload != Bytes{static_cast<std::uint8_t>(i - 1)}) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace ferry::test
