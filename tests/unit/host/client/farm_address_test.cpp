// Tests the remotes that stand for boards of farms: their addresses, the farms of devices.toml, and files of leases.
#include "host/client/farm_address.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "ferry/error.h"
#include "ferry/server_status.h"
#include "host/client/destination.h"
#include "host/client/lease_file.h"

using namespace ferry;
using namespace std::chrono_literals;
using namespace session;

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
  return error_from([&] { find_destination(remote, ""); }).what();
}

LeaseFile two_boards() {
  LeaseFile lease{"lab one", 0x9f3c, {}};
  for (const char* name : {"pi-3", "a board"}) {
    farm::wire::GrantedSlot board{name, "[::1]:909", 0, {}};
    board.psk.fill(static_cast<std::uint8_t>(name[0]));
    lease.boards.push_back(board);
  }
  return lease;
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
  const secure::Key alice = home.key("alice.key"), bob = home.key("bob.key"), other = home.key("other.key");
  home.file("devices.toml",
            "[lab]\nfarm = \"tracker,standby:1\"\nkey = \"alice.key\"\n"
            "[pi]\naddress = \"farm://lab/rpi4\"\n"
            "[bobs]\naddress = \"farm://lab/rpi4?priority=1\"\nkey = \"bob.key\"\n");
  const Destination pi = find_destination("pi", "");
  CHECK(pi.transport == TransportKind::farm);
  CHECK(pi.name == "farm://lab/rpi4");
  CHECK(farm::to_text(pi.farm.trackers) == "tracker:9191,standby:1");
  CHECK(pi.farm.key.bytes == alice.bytes);
  CHECK(pi.farm_address.selector == "rpi4");
  const Destination bobs = find_destination("bobs", "");
  CHECK(bobs.farm.key.bytes == bob.bytes);
  CHECK(bobs.name == "farm://lab/rpi4");
  CHECK(find_destination("farm://lab/x", home.path("other.key")).farm.key.bytes == other.bytes);
  // The same trackers by their addresses are the same farm.
  CHECK(find_destination("farm://tracker:9191,standby:1/x", "").farm.key.bytes == alice.bytes);
  CHECK(find_farm("", "").name == "lab");
  CHECK(is_of_farm("pi"));
  CHECK(is_of_farm("farm://x/y"));
  CHECK_FALSE(is_of_farm("lab"));
  CHECK_FALSE(is_of_farm("plaintext://127.0.0.1"));
  CHECK(refusal_of("lab") == "lab is a farm: expected a selector of boards, as in farm://lab/SELECTOR");
}

TEST_CASE("a farm by its address takes the key of FERRY_KEY_FILE") {
  const Home home;
  const secure::Key mine = home.key("mine.key");
  setenv("FERRY_KEY_FILE", home.path("mine.key").c_str(), 1);
  const Destination found = find_destination("farm://127.0.0.1:77/x", "");
  CHECK(found.farm.key.bytes == mine.bytes);
  CHECK(farm::to_text(found.farm.trackers) == "127.0.0.1:77");
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

TEST_CASE("a mistake in a farm's entry is named with file and line") {
  const Home home;
  const std::string file = home.path("devices.toml");
  home.file("devices.toml", "[lab]\nfarm = \"a,\"\n");
  CHECK(refusal_of("lab").find(file + ":2: lab.farm: expected") == 0);
  home.file("devices.toml", "[lab]\nfarm = \"a\"\naddress = \"b\"\n");
  CHECK(refusal_of("lab") == file + ":1: lab: expected an address or a farm, got both");
}

TEST_CASE("a lease file gives its boards, by their number") {
  const Home home;
  const LeaseFile lease = two_boards();
  const std::string file = home.path("lease");
  write_lease_file(file, lease);
  struct stat info{};
  REQUIRE(stat(file.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const LeaseFile read = read_lease_file(file);
  CHECK(read.farm == lease.farm);
  CHECK(read.lease == lease.lease);
  const Destination first = find_destination("lease:" + file, "");
  CHECK(first.name == "pi-3 (lease:" + file + ")");
  CHECK(first.transport == TransportKind::encrypted);
  CHECK(to_text(first.tcp) == "[::1]:909");
  CHECK(first.key->bytes == lease.boards[0].psk);
  CHECK(find_destination("lease:" + file + "#2", "").key->bytes == lease.boards[1].psk);
  CHECK(find_destination("lease:" + file + "#2", "").name == "a board (lease:" + file + "#2)");
  CHECK(refusal_of("lease:" + file + "#3") == "expected one of the 2 boards of the lease in " + file + ", got #3");
  CHECK(refusal_of("lease:" + file + "#0") == "expected one of the 2 boards of the lease in " + file + ", got #0");
  CHECK(refusal_of("lease:" + file + "#x") == "expected lease:FILE or lease:FILE#N, got 'lease:" + file + "#x'");
  CHECK(error_from([&] { write_lease_file(file, lease); }).code() == ErrorCode::invalid_argument);
}

TEST_CASE("a lease file says of boards that are reached by ssh which epoch they have and when it is over") {
  const Home home;
  const std::string file = home.path("lease");
  LeaseFile lease = two_boards();
  lease.boards[1] = {"pi 4", "ssh://pi@pi-4:2222", 17, {}};
  CHECK(
      std::string(error_from([&] { write_lease_file(file, lease); }).what()).find("expected the time that it lasts") !=
      std::string::npos);
  lease.remaining = std::chrono::minutes(10);
  write_lease_file(file, lease);
  const auto start = std::chrono::steady_clock::now();
  const Destination board = find_destination("lease:" + file + "#2", "");
  CHECK(board.name == "pi 4 (lease:" + file + "#2)");
  CHECK(board.transport == TransportKind::ssh);
  CHECK(board.ssh.user == "pi");
  CHECK(board.ssh.host == "pi-4");
  CHECK(board.ssh.port == 2222);
  REQUIRE(board.claim);
  CHECK(board.claim->epoch == 17);
  CHECK(board.claim->lasts_until - start < std::chrono::minutes(10) + std::chrono::seconds(1));
  CHECK(board.claim->lasts_until - start > std::chrono::minutes(10) - std::chrono::seconds(20));
  CHECK_FALSE(find_destination("lease:" + file + "#1", "").claim);

  lease.remaining = std::chrono::minutes(30);
  replace_lease_file(file, lease);
  CHECK(read_lease_file(file).remaining > std::chrono::minutes(29));
  struct stat info{};
  REQUIRE(stat(file.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const std::string over =
      home.file("over", "ferry-lease-1 1 lab\nssh-board ssh://a 3 1000 ferry-key-1:" + std::string(64, 'a') + " x\n");
  REQUIRE(chmod(over.c_str(), 0600) == 0);
  const Destination ended = find_destination("lease:" + over, "");
  REQUIRE(ended.claim);
  CHECK(ended.claim->lasts_until <= std::chrono::steady_clock::now());
}

TEST_CASE("a lease file that others may read, or that holds something else, is refused") {
  const Home home;
  const std::string file = home.path("lease");
  write_lease_file(file, two_boards());
  REQUIRE(chmod(file.c_str(), 0640) == 0);
  CHECK(refusal_of("lease:" + file) == "the lease file " + file + ": others may read or change it (mode 640)");
  CHECK(refusal_of("lease:" + home.folder).find("expected a file, got something else") != std::string::npos);
  CHECK(refusal_of("lease:" + home.path("gone")).find("the lease has probably ended") != std::string::npos);
  const std::string key(64, 'a');
  const std::pair<const char*, std::string> mistakes[] = {
      {"", ":0: expected 1 to 16 boards, got 0"},
      {"garbage\x1b[2J\n", ":1: expected ferry-lease-1, got 'garbage"},
      {"ferry-lease-1\n", ":1: expected a lease of up to 16 hexadecimal digits, got ''"},
      {"ferry-lease-1 xyz lab\n", ":1: expected a lease of up to 16 hexadecimal digits, got 'xyz'"},
      {"ferry-lease-1 1 lab\n", ":1: expected 1 to 16 boards, got 0"},
      {"ferry-lease-1 1 lab\nbord\n",
       ":2: expected board ADDRESS KEY NAME or ssh-board ADDRESS EPOCH END KEY NAME, got 'bord'"},
      {"ferry-lease-1 1 lab\nboard nowhere\n", ":2: expected HOST:PORT, got 'nowhere'"},
      {"ferry-lease-1 1 lab\nboard a:1 ferry-key-1:12 x\n", ":2: line 1: expected"},
      {"ferry-lease-1 1 lab\nssh-board a:1 1 2 x\n", ":2: expected ssh://[USER@]HOST[:PORT], got 'a:1'"},
      {"ferry-lease-1 1 lab\nssh-board ssh://-oX 1 2 x\n", ":2: expected a host in ssh://"},
      {"ferry-lease-1 1 lab\nssh-board ssh://a 0 2 x\n", ":2: expected an epoch above 0, got '0'"},
      {"ferry-lease-1 1 lab\nssh-board ssh://a 1 soon x\n", ":2: expected the end of the lease in milliseconds since"},
      {"ferry-lease-1 1 lab\nssh-board ssh://a 1 99999999999999999 x\n", ":2: expected the end of the lease in millis"},
      {"ferry-lease-1 1 lab\nssh-board ssh://a 1 2 x\n", ":2: line 1: expected"},
  };
  for (const auto& [text, expected] : mistakes) {
    CAPTURE(text);
    const std::string path = home.file("wrong", text);
    CHECK(refusal_of("lease:" + path).find("the lease file " + path + expected) == 0);
  }
  const std::string unnamed = home.file("unnamed", "ferry-lease-1 1 lab\nboard a:1 ferry-key-1:" + key + " \n");
  CHECK(refusal_of("lease:" + unnamed) == "the lease file " + unnamed + ":2: expected a board's name, got ''");
  const std::string large = home.file("large", std::string(70'000, 'x'));
  CHECK(refusal_of("lease:" + large).find("expected a lease, got a large file") != std::string::npos);
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
