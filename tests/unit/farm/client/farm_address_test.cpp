// Tests the remotes that stand for boards of farms: their addresses, and the farms of devices.toml.
#include "farm/client/farm_address.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "farm/client/farm_connector.h"
#include "ferry/error.h"
#include "ferry/server_status.h"

using namespace ferry;
using namespace std::chrono_literals;
using namespace farm;

namespace {

struct Home {
  std::string folder;
  Home() {
    char pattern[] = "/tmp/ferry-farms-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    folder = pattern;
    setenv("FERRY_DEVICES", path("devices.toml").c_str(), 1);
    unsetenv("FERRY_KEY_FILE");
  }
  ~Home() {
    unsetenv("FERRY_DEVICES");
    unsetenv("FERRY_KEY_FILE");
    std::filesystem::remove_all(folder);
  }
  std::string path(const std::string& name) const { return folder + "/" + name; }
  secure::Key key(const std::string& name) const {
    const secure::Key made = secure::make_key();
    REQUIRE(secure::write_key_file(path(name), made).is_ok());
    return made;
  }
  std::string file(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    std::ofstream(path(name)) << text;
    REQUIRE(chmod(path(name).c_str(), mode) == 0);
    return path(name);
  }
};

Error error_from(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  FAIL("expected an Error");
  return {ErrorCode::ok, ""};
}
std::string refusal_of(const std::string& remote) {
  return error_from([&] { with_farm().connector(remote, ""); }).what();
}

}  // namespace

TEST_CASE("an address of a farm names farm, selector and options") {
  const FarmAddress plain = parse_farm_address("farm://lab/rpi4");
  CHECK(plain.farm == "lab");
  CHECK(plain.selector == "rpi4");
  CHECK_FALSE(plain.priority.has_value());
  CHECK_FALSE(plain.length.has_value());
  const FarmAddress full = parse_farm_address(
      "farm://a:1,b/cuda -arch=sm_90,memory>=2G?priority=70&length=1h30m&wait=10s&job=nightly%20run%26more");
  CHECK(full.farm == "a:1,b");
  CHECK(full.selector == "cuda -arch=sm_90,memory>=2G");
  CHECK(full.priority == 70);
  CHECK(full.length == 90min);
  CHECK(full.wait == 10s);
  CHECK(full.job == "nightly run&more");
  CHECK(parse_farm_address("farm://lab/x?job=a build").job == "a build");
}

TEST_CASE("a mistake in an address of a farm is named") {
  const auto refused = [](const std::string& text) {
    return std::string(error_from([&] { parse_farm_address(text); }).what());
  };
  for (const char* text : {"farm://", "farm://lab", "farm://lab/", "farm:///rpi4", "farm://lab/?wait=1m"}) {
    CAPTURE(text);
    CHECK(refused(text) ==
          "expected farm://FARM/SELECTOR[?priority=N&length=30m&wait=10m&job=TEXT], got '" + std::string(text) + "'");
  }
  CHECK(refused("farm://lab/x?priority=101") == "priority: expected a number from 0 to 100, got '101'");
  CHECK(refused("farm://lab/x?priority=-1") == "priority: expected a number from 0 to 100, got '-1'");
  CHECK(refused("farm://lab/x?length=30") == "length: expected a time such as 90s, 30m, 1h30m or 2d, got '30'");
  CHECK(refused("farm://lab/x?wait") == "wait: expected a time such as 90s, 30m, 1h30m or 2d, got ''");
  CHECK(refused("farm://lab/x?job=") == "job: expected a text, got ''");
  for (const char* job : {"a%", "a%2", "%2x", "%%20", "%+1"}) {
    CHECK(refused(std::string("farm://lab/x?job=") + job) ==
          std::string("job: expected two hexadecimal digits after each %, got '") + job + "'");
  }
  CHECK(refused("farm://lab/x?speed=1") ==
        "expected priority, length, wait or job after the selector of a farm, got 'speed'");
  CHECK(refused("farm://lab/" + std::string(1025, 'x')) == "expected a selector of at most 1024 bytes, got 1025");
}

TEST_CASE("times have units, and none is too long to count") {
  CHECK(parse_time_span("2d", "x") == 48h);
  CHECK(parse_time_span("1h1m1s", "x") == 3661s);
  CHECK(parse_time_span("0s", "x") == 0s);
  for (const char* text :
       {"", "s", "1", "1x", "-1s", "1.5h", "1s ", "366d", "99999999999999999999s", "18446744073709551615d"}) {
    CAPTURE(text);
    CHECK(error_from([&] { parse_time_span(text, "x"); }).code() == ErrorCode::invalid_argument);
  }
}

TEST_CASE("a farm in devices.toml gives trackers and key, also to names of its boards") {
  const Home home;
  const secure::Key alice = home.key("alice.key"), other = home.key("other.key");
  home.file("devices.toml",
            "[lab]\nfarm = \"tracker,standby:1\"\nkey = \"alice.key\"\n"
            "[pi]\naddress = \"farm://lab/rpi4\"\n");
  const FarmAccess lab = find_farm("lab", "");
  CHECK(farm::to_text(lab.trackers) == "tracker:9191,standby:1");
  CHECK(lab.key.bytes == alice.bytes);
  CHECK(find_farm("lab", home.path("other.key")).key.bytes == other.bytes);
  // The same trackers by their addresses are the same farm.
  CHECK(find_farm("tracker:9191,standby:1", "").key.bytes == alice.bytes);
  CHECK(find_farm("", "").name == "lab");
  CHECK(farm_of("pi") == "lab");
  CHECK(farm_of("farm://x/y") == "x");
  CHECK_FALSE(farm_of("lab"));
  CHECK_FALSE(farm_of("plaintext://127.0.0.1"));
  CHECK(refusal_of("lab") == "lab is a farm: expected a selector of boards, as in farm://lab/SELECTOR");
}

TEST_CASE("a farm by its address takes the key of FERRY_KEY_FILE") {
  const Home home;
  const secure::Key mine = home.key("mine.key");
  setenv("FERRY_KEY_FILE", home.path("mine.key").c_str(), 1);
  const FarmAccess found = find_farm("127.0.0.1:77", "");
  CHECK(found.key.bytes == mine.bytes);
  CHECK(farm::to_text(found.trackers) == "127.0.0.1:77");
}

TEST_CASE("a farm that is not there, or without a key, is told with the ways to fix it") {
  const Home home;
  CHECK(
      std::string(error_from([] { find_farm("", ""); }).what()).find("there is none in " + home.path("devices.toml")) !=
      std::string::npos);
  home.file("devices.toml", "[lab]\nfarm = \"a\"\n[works]\nfarm = \"b\"\n");
  const Error two = error_from([] { find_farm("", ""); });
  CHECK(std::string(two.what()).find("expected one of the farms in") != std::string::npos);
  const Error typo = error_from([] { find_farm("lba", ""); });
  CHECK(typo.code() == ErrorCode::not_found);
  CHECK(std::string(typo.what()).find("no farm 'lba' in " + home.path("devices.toml") + " (the nearest is 'lab')") !=
        std::string::npos);
  CHECK(std::string(typo.what()).find("ferry farm enrol --client NAME") != std::string::npos);
}

TEST_CASE("the status of a farm's board says where to look") {
  const Home home;
  home.key("mine.key");
  ConnectOptions options;
  options.key_file = home.path("mine.key");
  const Error error = error_from([&] { server_status("farm://127.0.0.1:1/rpi4", options); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK(std::string(error.what()).find("'ferry farm devices rpi4'") != std::string::npos);
}
