// Tests which keys a key ring finds.
#include "rpc/server/key_ring.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/device-runtime/support/key_files.h"

namespace ferry::test {
namespace {

TEST_CASE("a key ring finds the keys that lie in its folder now") {
  const KeyFiles files;
  const secure::Key first = files.add("first.key");
  const auto ring = server::KeyRing::open(files.folder());
  REQUIRE_MESSAGE(ring.is_ok(), ring.status().message());
  CHECK(ring.value().made().empty());
  const auto has = [&](const secure::Key& key) {
    const auto found = ring.value().find(key.id()).value();
    return found.has_value() && found->bytes == key.bytes;
  };
  CHECK(has(first));
  const secure::Key second = files.add("second.key");
  CHECK(has(second));
  REQUIRE(unlink(files.path("first.key").c_str()) == 0);
  CHECK_FALSE(has(first));
  CHECK(has(second));
}

TEST_CASE("a folder into which others may put keys is refused, and holds none once they may") {
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  const auto ring = server::KeyRing::open(files.folder());
  REQUIRE_MESSAGE(ring.is_ok(), ring.status().message());
  REQUIRE(chmod(files.folder().c_str(), 0770) == 0);
  CHECK_FALSE(ring.value().find(key.id()).value().has_value());
  CHECK(server::KeyRing::open(files.folder()).status().code() == ErrorCode::invalid_argument);
}

TEST_CASE("a missing key is created with mode 600, and found") {
  const KeyFiles files;
  const auto ring = server::KeyRing::open(files.path("sub/new.key"));
  REQUIRE_MESSAGE(ring.is_ok(), ring.status().message());
  CHECK(ring.value().made() == files.path("sub/new.key"));
  struct stat info{};
  REQUIRE(stat(files.path("sub/new.key").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const secure::Key made = secure::read_key_file(files.path("sub/new.key")).value();
  CHECK(ring.value().find(made.id()).value().has_value());
}

TEST_CASE("servers that start together in an empty home share one key, which each of them finds") {
  constexpr int kRounds = 50, kServers = 8;
  const char* before = getenv("XDG_CONFIG_HOME");
  const std::string kept = before != nullptr ? before : "";
  for (int round = 0; round < kRounds; ++round) {
    const KeyFiles files;
    setenv("XDG_CONFIG_HOME", files.path("home").c_str(), 1);
    std::atomic<int> waiting = kServers, made = 0, found = 0;
    std::vector<std::string> failures(kServers);
    {
      std::vector<std::jthread> servers;
      for (int i = 0; i < kServers; ++i) {
        servers.emplace_back([&, i] {
          for (--waiting; waiting > 0;) std::this_thread::yield();
          const auto ring = server::KeyRing::open("");
          if (!ring.is_ok()) {
            failures[static_cast<std::size_t>(i)] = ring.status().message();
            return;
          }
          made += ring.value().made().empty() ? 0 : 1;
          const auto key = secure::read_key_file(files.path("home/ferry/server-keys/default.key"));
          if (key.is_ok() && ring.value().find(key.value().id()).value().has_value()) ++found;
        });
      }
    }
    for (const std::string& failure : failures) CHECK_MESSAGE(failure.empty(), failure);
    CHECK(made == 1);
    CHECK(found == kServers);
  }
  if (before != nullptr) {
    setenv("XDG_CONFIG_HOME", kept.c_str(), 1);
  } else {
    unsetenv("XDG_CONFIG_HOME");
  }
}

TEST_CASE("a key that cannot be made is a failure, and a link to nothing is none") {
  const KeyFiles files;
  REQUIRE(symlink("nothing", files.path("dangling.key").c_str()) == 0);
  const Status status = server::KeyRing::open(files.path("dangling.key")).status();
  CHECK(status.code() == ErrorCode::invalid_argument);
  CHECK(status.message().find("cannot make the key file") != std::string::npos);
}

TEST_CASE("with no descriptor left a key is not called wrong: the client is asked to try again") {
  const KeyFiles files;
  const secure::Key key = files.add("k.key");
  for (const std::string& path : {files.folder(), files.path("k.key")}) {
    const auto ring = server::KeyRing::open(path);
    REQUIRE_MESSAGE(ring.is_ok(), ring.status().message());
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const int next = dup(0);
    close(next);
    const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto found = ring.value().find(key.id());
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(found.status().code() == ErrorCode::busy);
    CHECK(found.status().message() == "this server cannot read its keys just now; try again");
    CHECK(ring.value().find(key.id()).value().has_value());
    CHECK_FALSE(ring.value().find(secure::make_key().id()).value().has_value());
  }
}

}  // namespace
}  // namespace ferry::test
