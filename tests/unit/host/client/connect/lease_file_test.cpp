// Tests files of leases and the connectors of their boards.
#include "host/client/connect/lease_file.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "host/client/connect/ssh.h"

using namespace ferry;
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

// The detours that were asked for.
struct AskedDetour {
  std::string farm, lease;
  std::size_t board;
};
std::vector<AskedDetour> asked;

std::shared_ptr<Connector> connector(const std::string& remote) {
  Schemes schemes;
  schemes.add(lease_file_scheme([](const LeaseFile& lease, std::size_t board) {
    asked.push_back({lease.farm, lease.lease, board});
    return Detour{[]() -> Result<std::unique_ptr<Transport>> { return Status(ErrorCode::unavailable, "by the test"); }};
  }));
  return schemes.connector(remote, "");
}
TcpDevice tcp(const std::string& remote) { return dynamic_cast<TcpConnector&>(*connector(remote)).device(); }
std::string refusal_of(const std::string& remote) {
  return error_from([&] { connector(remote); }).what();
}

LeaseFile two_boards() {
  LeaseFile lease{"lab one", "0000000000009f3c", {}};
  for (const char* name : {"pi-3", "a board"}) {
    LeasedBoard board{name, "[::1]:909"};
    board.psk.fill(static_cast<std::uint8_t>(name[0]));
    lease.boards.push_back(board);
  }
  return lease;
}

}  // namespace

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
  const TcpDevice first = tcp("lease:" + file), second = tcp("lease:" + file + "#2");
  CHECK(first.name == "pi-3 (lease:" + file + ")");
  CHECK(first.board == "lab one/pi-3");
  CHECK(to_text(first.address) == "[::1]:909");
  CHECK(first.key.value().key.bytes == lease.boards[0].psk);
  CHECK(first.lease != nullptr);
  CHECK(second.key.value().key.bytes == lease.boards[1].psk);
  CHECK(second.name == "a board (lease:" + file + "#2)");
  CHECK(refusal_of("lease:" + file + "#3") == "expected one of the 2 boards of the lease in " + file + ", got #3");
  CHECK(refusal_of("lease:" + file + "#0") == "expected one of the 2 boards of the lease in " + file + ", got #0");
  CHECK(refusal_of("lease:" + file + "#x") == "expected lease:FILE or lease:FILE#N, got 'lease:" + file + "#x'");
  CHECK(error_from([&] { write_lease_file(file, lease); }).code() == ErrorCode::invalid_argument);
}

TEST_CASE("a lease file says of boards that are reached by ssh which epoch they have and when it is over") {
  const Home home;
  const std::string file = home.path("lease");
  LeaseFile lease = two_boards();
  lease.boards[1] = {"pi 4", "ssh://pi@pi-4:2222", 17};
  CHECK(
      std::string(error_from([&] { write_lease_file(file, lease); }).what()).find("expected the time that it lasts") !=
      std::string::npos);
  lease.remaining = std::chrono::minutes(10);
  write_lease_file(file, lease);
  const auto opened = connector("lease:" + file + "#2");
  const auto& ssh = dynamic_cast<SshConnector&>(*opened);
  CHECK(ssh.address().user == "pi");
  CHECK(ssh.address().host == "pi-4");
  CHECK(ssh.address().port == 2222);
  REQUIRE(ssh.board());
  CHECK(ssh.board()->full_name() == "lab one/pi 4");
  CHECK(ssh.board()->epoch == 17);
  CHECK(ssh.board()->lease->remaining() <= std::chrono::minutes(10));
  CHECK(ssh.board()->lease->remaining() > std::chrono::minutes(10) - std::chrono::seconds(20));

  lease.remaining = std::chrono::minutes(30);
  replace_lease_file(file, lease);
  CHECK(read_lease_file(file).remaining > std::chrono::minutes(29));
  struct stat info{};
  REQUIRE(stat(file.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const std::string over =
      home.file("over", "ferry-lease-1 1 lab\nssh-board ssh://a 3 1000 ferry-key-1:" + std::string(64, 'a') + " x\n");
  REQUIRE(chmod(over.c_str(), 0600) == 0);
  const auto ended = connector("lease:" + over);
  CHECK(dynamic_cast<SshConnector&>(*ended).board()->lease->remaining() == std::chrono::milliseconds(0));
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

TEST_CASE("a board of a lease that does not answer is tried by the detour of its lease, and once directly") {
  const Home home;
  LeaseFile lease = two_boards();
  lease.boards[1].address = "127.0.0.1:1";
  const std::string file = home.path("lease");
  write_lease_file(file, lease);
  asked.clear();
  const auto board = connector("lease:" + file + "#2");
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].farm == "lab one");
  CHECK(asked[0].lease == "0000000000009f3c");
  CHECK(asked[0].board == 1);
  const Error error = error_from([&] { board->open({}); });
  CHECK(error.code() == ErrorCode::unavailable);
  CHECK(std::string(error.what()).find("a board (lease:" + file + "#2): ") == 0);
  CHECK(std::string(error.what()).find("; nor can it be reached by the test") != std::string::npos);
}
