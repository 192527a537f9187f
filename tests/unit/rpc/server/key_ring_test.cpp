// Tests which keys a key ring finds.
#include "rpc/server/key_ring.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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
