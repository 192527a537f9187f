#include "device-runtime/session/state/handle_table.h"

#include <doctest/doctest.h>

#include <vector>

namespace ferry::device {
namespace {

TEST_CASE("handles may be defined in any order, failed, removed and defined again") {
  HandleTable<int> table("buffer", 1000);
  // Each number below 997 once, 500 apart.
  for (std::uint64_t i = 0, handle = 1; i < 996; ++i, handle = (handle + 500) % 997) {
    if (handle == 0) handle = 500;
    CHECK(table.check_new(handle).is_ok());
    table.define(handle, std::make_unique<int>(static_cast<int>(handle)));
  }
  for (std::uint64_t handle = 1; handle < 997; ++handle) {
    REQUIRE(table.find_quietly(handle) != nullptr);
    CHECK(*table.find_quietly(handle) == static_cast<int>(handle));
  }
  std::vector<rpc::Handle> visited;
  table.for_each([&](rpc::Handle handle, int) { visited.push_back(handle); });
  CHECK(visited.size() == 996);
  CHECK(table.check_new(7).message() == "buffer 7 exists already");
  CHECK(table.find_quietly(997) == nullptr);
  CHECK(table.find_quietly(~rpc::Handle{0}) == nullptr);
  CHECK(table.remove(997).message() == "there is no buffer 997");
  CHECK(table.remove(7).is_ok());
  CHECK_FALSE(table.remove(7).is_ok());
  CHECK(table.find_quietly(7) == nullptr);
  CHECK(*table.find_quietly(8) == 8);
  table.remove_if([](int value) { return value % 2 == 0; });
  CHECK(table.find_quietly(8) == nullptr);
  CHECK(*table.find_quietly(9) == 9);

  // A failed definition is remembered, and may be made up for.
  table.fail(7, 42);
  table.fail(9, 43);
  CHECK(table.find_quietly(7) == nullptr);
  CHECK(*table.find_quietly(9) == 9);
  CHECK(table.check_new(7).is_ok());
  table.define(7, std::make_unique<int>(-7));
  CHECK(*table.find_quietly(7) == -7);
  CHECK_FALSE(table.check_new(0).is_ok());
}

TEST_CASE("a table has no more entries than its limit, failed ones included") {
  HandleTable<int> table("module", 2);
  table.define(5, std::make_unique<int>(5));
  table.fail(1, 9);
  table.fail(3, 9);
  CHECK(table.check_new(4).code() == ErrorCode::resource_exhausted);
  CHECK(table.remove(3).code() == ErrorCode::not_found);
  CHECK(table.remove(1).is_ok());
  CHECK(table.check_new(4).is_ok());
}

}  // namespace
}  // namespace ferry::device
