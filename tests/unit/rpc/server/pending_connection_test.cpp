// Tests the limits of connections that are not admitted yet or not any more.
#include "rpc/server/pending_connection.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>

namespace ferry::test {
namespace {

TEST_CASE("the oldest connection gives way, and those that are over do not count") {
  struct Pending final : server::PendingConnection {
    void abandon() override { abandoned = true; }
    bool abandoned = false;
  };
  server::PendingConnections places(3);
  std::vector<std::shared_ptr<Pending>> all;
  const auto add = [&] {
    all.push_back(std::make_shared<Pending>());
    places.add(all.back());
  };
  for (int i = 0; i < 3; ++i) add();
  all[1].reset();
  add();
  CHECK_FALSE(all[0]->abandoned);
  add();
  CHECK(all[0]->abandoned);
  CHECK_FALSE(all[2]->abandoned);
  add();
  CHECK(all[2]->abandoned);
  CHECK_FALSE(all[3]->abandoned);
  for (int i = 0; i < 3; ++i) add();
  for (std::size_t i = 3; i < 6; ++i) CHECK(all[i]->abandoned);
  for (std::size_t i = 6; i < 9; ++i) CHECK_FALSE(all[i]->abandoned);
}

TEST_CASE("as many places are given out as there are descriptors, and always some") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const auto within = [&](rlim_t most, std::size_t sessions = 8) {
    const rlimit limit{std::min(most, before.rlim_max), before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    const server::ConnectionPlaces places = server::find_connection_places(sessions, 64);
    rlimit after{};
    getrlimit(RLIMIT_NOFILE, &after);
    // A session has a connection, and a stream for what it writes to standard error.
    CHECK(places.unadmitted + places.final_frames + 2 * sessions + 64 < std::max<rlim_t>(after.rlim_cur, 100));
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    return places;
  };
  CHECK(within(256).unadmitted <= 512);
  CHECK(within(1 << 20).unadmitted == 512);
  CHECK(within(1 << 20).final_frames == 256);
  CHECK(within(1024, 256).unadmitted <= 512);
}

}  // namespace
}  // namespace ferry::test
