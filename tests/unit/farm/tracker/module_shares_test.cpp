// What the connections of one key may take of the database of modules.
#include "farm/tracker/module_shares.h"

#include <doctest/doctest.h>

#include <chrono>
#include <set>

#include "farm/store/modules/module_thread.h"

namespace ferry::test {
namespace {

using farm::ConnectionNumber;
using farm::ModuleShares;

secure::KeyId key_id(std::uint8_t number) {
  secure::KeyId id{};
  id[0] = number;
  return id;
}

TEST_CASE("one key has a quarter of the places where requests wait, and the others are for other keys") {
  static_assert(4 * ModuleShares::kMostWaiting == farm::ModuleThread::kMaxWaiting);
  ModuleShares shares;
  for (std::size_t i = 0; i < ModuleShares::kMostWaiting; ++i) REQUIRE(shares.begin_request(key_id(1)).is_ok());
  CHECK(shares.begin_request(key_id(1)).code() == ErrorCode::busy);
  for (std::uint8_t other = 2; other < 5; ++other) {
    for (std::size_t i = 0; i < ModuleShares::kMostWaiting; ++i) REQUIRE(shares.begin_request(key_id(other)).is_ok());
  }
  // What was refused is not counted, and what was answered makes room for as many.
  shares.end_request(key_id(1));
  CHECK(shares.begin_request(key_id(1)).is_ok());
  CHECK(shares.begin_request(key_id(1)).code() == ErrorCode::busy);
  for (std::size_t i = 0; i < ModuleShares::kMostWaiting; ++i) shares.end_request(key_id(1));
  for (std::size_t i = 0; i < ModuleShares::kMostWaiting; ++i) CHECK(shares.begin_request(key_id(1)).is_ok());
  CHECK(shares.begin_request(key_id(1)).code() == ErrorCode::busy);
}

TEST_CASE("eight connections of a key transfer objects, and one that has finished makes room for another") {
  ModuleShares shares;
  std::set<ConnectionNumber> done;
  std::size_t asked = 0;
  const auto begin = [&](std::uint8_t key, ConnectionNumber connection) {
    return shares.begin_transfer(key_id(key), connection, [&](ConnectionNumber other) {
      ++asked;
      return done.contains(other);
    });
  };
  for (ConnectionNumber connection = 1; connection <= 8; ++connection) REQUIRE(begin(1, connection).is_ok());
  CHECK(begin(1, 3).is_ok());  // it is one of them
  CHECK(asked == 0);
  CHECK(begin(1, 9).code() == ErrorCode::busy);
  CHECK(begin(2, 10).is_ok());
  done = {2, 5};
  CHECK(begin(1, 9).is_ok());
  CHECK(begin(1, 11).is_ok());
  CHECK(begin(1, 12).code() == ErrorCode::busy);
  // Connection 2 counts again once it goes on.
  done = {9};
  CHECK(begin(1, 2).is_ok());
  CHECK(begin(1, 12).code() == ErrorCode::busy);
}

TEST_CASE("a key sets and deletes a hundred baselines at once, and then one each second") {
  farm::TokenBucket::TimePoint now{};
  ModuleShares shares([&] { return now; });
  for (std::uint64_t i = 0; i < ModuleShares::kAuditBurst; ++i) {
    REQUIRE(shares.expect_audit(key_id(1)).is_ok());
    shares.count_audit(key_id(1));
  }
  CHECK(shares.expect_audit(key_id(1)).code() == ErrorCode::busy);
  CHECK(shares.expect_audit(key_id(2)).is_ok());
  now += std::chrono::milliseconds(990);
  CHECK(shares.expect_audit(key_id(1)).code() == ErrorCode::busy);
  now += std::chrono::milliseconds(20);
  CHECK(shares.expect_audit(key_id(1)).is_ok());
}

}  // namespace
}  // namespace ferry::test
