// A board of a farm whose tracker, disk or network fails or lies. Whatever they do, the board goes on serving the lease
// that it serves, admits nobody else, and finds a tracker that works.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/unit/device-runtime/supervisor/farm_fixture.h"

namespace ferry::test {
namespace {

using namespace farm::wire;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

ProcessResult run_on(const Farm& farm) {
  std::vector<std::string> arguments = farm.arguments();
  arguments.insert(arguments.end(), {"--port", "0"});
  return run_server_program(arguments);
}

TEST_CASE("a damaged ceiling is an error that says so, and is left as it is") {
  const Farm farm;
  REQUIRE(mkdir(farm.files.path("work").c_str(), 0700) == 0);
  const std::string path = farm.files.path("work/epoch-ceiling");
  // The first would be right if its digit were another one.
  for (const char* text : {"ferry-epoch-ceiling-1:1031 0123456789abcdef\n", "", "ferry-epoch-ceiling-1:", "1031\n"}) {
    CAPTURE(text);
    std::ofstream(path) << text;
    const ProcessResult result = run_on(farm);
    CHECK(result.exit_code == 1);
    CHECK(result.errors.find(path + " is corrupt") != std::string::npos);
    std::ifstream file(path);
    CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == text);
  }
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/dev/null", path);
  CHECK(run_on(farm).errors.find("cannot read " + path) != std::string::npos);
}

TEST_CASE("two servers of a farm do not share a folder, since they would accept the same epochs") {
  const Farm farm;
  const FarmServer server(farm);
  const ProcessResult second = run_on(farm);
  CHECK(second.exit_code == 1);
  CHECK(second.errors.find("another rpc_server of a farm uses " + farm.files.path("work")) != std::string::npos);
}

TEST_CASE("a key that cannot be read is an error at once") {
  const Farm farm;
  REQUIRE(chmod(farm.files.path("board.key").c_str(), 0644) == 0);
  CHECK(run_on(farm).errors.find("others may read or change it") != std::string::npos);
}

TEST_CASE("a lease whose ceiling cannot be written is not acknowledged, and the next one is tried again") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  // In the way of both ways to write the file, also of root's.
  const std::string draft = farm.files.path("work/epoch-ceiling.new");
  const std::string spare = farm.files.path("work/epoch-ceiling.spare");
  REQUIRE(mkdir(draft.c_str(), 0700) == 0);
  REQUIRE(unlink(spare.c_str()) == 0);
  const secure::Key psk = secure::make_key();
  board.send(lease_for(kLong, 1, psk));
  CHECK(has_logged(server, "cannot make " + draft));
  check_farm_refuses(server, psk);
  REQUIRE(rmdir(draft.c_str()) == 0);
  board.send(lease_for(kLong, 2, psk));
  CHECK(board.expect<LeaseOver>().key == lease::LeaseKey{100, 1});
  CHECK(board.expect<Acknowledged>().key == lease::LeaseKey{200, 2});
}

TEST_CASE("bytes that no tracker would send end the connection, but neither the lease nor its session") {
  Farm farm;
  const secure::Key psk = secure::make_key();
  const auto header = [](rpc::FrameKind kind, Tag tag, std::uint32_t body, std::uint64_t payload) {
    const auto bytes =
        rpc::encode_frame_header({kind, static_cast<std::uint16_t>(tag), ErrorCode::ok, 0, body, payload});
    return std::vector<std::uint8_t>(bytes.begin(), bytes.end());
  };
  std::vector<std::uint8_t> short_announce = event_frame(lease_for(kLong, 2, psk)), long_text = event_frame(Refused{});
  short_announce[24] = static_cast<std::uint8_t>(short_announce[24] - 1);
  short_announce.pop_back();
  long_text[rpc::kFrameHeaderBytes + 3] = 0x7f;
  const std::vector<std::vector<std::uint8_t>> lies{
      std::vector<std::uint8_t>(64, 'x'),
      header(rpc::FrameKind::event, Tag::Announce, kMaxBody + 1, 0),
      header(rpc::FrameKind::event, Tag::Announce, 0, 1),
      header(rpc::FrameKind::event, Tag::Announce, 0, 0),
      header(rpc::FrameKind::request, Tag::Probe, 0, 0),
      header(rpc::FrameKind::response, Tag::Join, 0, 0),
      short_announce,
      long_text,
  };
  for (const std::vector<std::uint8_t>& lie : lies) {
    const FarmServer server(farm);
    JoiningBoard board = farm.tracker.next_joined();
    const Announce lease = lease_for(kLong, board.join().ceiling + 1, psk);
    serve(board, lease);
    const auto client = open_session(server, psk);
    board.send_raw(lie);
    board.expect_end();
    CHECK(farm.tracker.next_joined().join().serving == lease.key);
    CHECK(client->ask(rpc::Ping{}).status.is_ok());
  }
}

TEST_CASE("records that were not encrypted with the connection's key end it") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  std::vector<std::uint8_t> record(34, 0);
  record[0] = 32;
  board.send_in_the_clear(record);
  board.expect_end();
  farm.tracker.next_joined().expect<Heartbeat>();
}

TEST_CASE("messages that are not for boards are ignored") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  board.send(Granted{1, 1, {{"pi", "127.0.0.1:1", 1, secure::make_key().bytes}}});
  board.send_raw(rpc::whole_frame({rpc::FrameKind::event, 9999}, std::vector<std::uint8_t>(100, 1)));
  serve(board, lease_for(kLong, 1, secure::make_key()));
}

TEST_CASE("an epoch so great that there would be no ceiling above it is refused, and an end is bounded") {
  Farm farm;
  const FarmServer server(farm);
  const secure::Key psk = secure::make_key();
  JoiningBoard board = farm.tracker.next_joined();
  for (const std::uint64_t epoch : {kMost, kMost - 1}) {
    Announce lease = lease_for(kLong, 1, psk);
    lease.key.epoch = epoch;
    board.send(lease);
    CHECK(board.expect<LeaseOver>().key.epoch == epoch);
  }
  Announce endless = lease_for(kLong, 1, psk);
  endless.end_ms = kMost;
  serve(board, endless);
  CHECK(open_session(server, psk)->ask(rpc::Ping{}).status.is_ok());
  Announce ended = lease_for(kLong, 2, psk);
  ended.end_ms = 0;
  board.send(ended);
  CHECK(board.expect<LeaseOver>().key == ended.key);
  CHECK(open_session(server, psk)->ask(rpc::Ping{}).status.is_ok());
}

TEST_CASE("a tracker that refuses is asked again later, and its reason is shown without control characters") {
  Farm farm;
  const FarmServer server(farm);
  farm.tracker.next().refuse({ErrorCode::unavailable, "not \x1b[31mactive"});
  CHECK(has_logged(server, R"(not \x1b[31mactive)"));
  JoiningBoard board = farm.tracker.next_joined();
  board.send(Refused{"this board is retired"});
  board.expect_end();
  CHECK(has_logged(server, "this board is retired"));
  JoiningBoard other = farm.tracker.next();
  other.send_raw(response_frame({rpc::FrameKind::request, static_cast<std::uint16_t>(Tag::Join), ErrorCode::ok, 1},
                                Joined{kVersionMax + 1, "pi"}));
  other.expect_end();
  CHECK(has_logged(server, "speaks version 2"));
  farm.tracker.next_joined().expect<Heartbeat>();
}

TEST_CASE("a board passes by trackers that are not there, hold another key or say nothing") {
  Farm farm;
  FakeTracker impostor(secure::make_key()), silent(farm.key), absent(farm.key);
  absent.stop_listening();
  const FarmServer server(farm.arguments(absent.address() + "," + impostor.address() + "," + silent.address() + "," +
                                         farm.tracker.address()));
  impostor.refuse_next();
  const Descriptor held = silent.next_socket();
  JoiningBoard board = farm.tracker.next_joined();
  CHECK(has_logged(server, impostor.address() + ": it does not accept our key"));
  CHECK(has_logged(server, silent.address() + ": it does not answer"));
  serve(board, lease_for(kLong, 1, secure::make_key()));
}

TEST_CASE("a tracker that hangs after the board has joined is given up") {
  Farm farm;
  const FarmServer server(farm);
  JoiningBoard board = farm.tracker.next_joined();
  const secure::Key psk = secure::make_key();
  serve(board, lease_for(kLong, 1, psk));
  const auto begin = Clock::now();
  JoiningBoard again = farm.tracker.next_joined();
  CHECK(Clock::now() - begin > kSilence - std::chrono::seconds(2));
  CHECK(again.join().serving == lease::LeaseKey{100, 1});
  CHECK(has_logged(server, "nothing was heard for too long"));
}

TEST_CASE("another key in the file is used for the next connection") {
  Farm farm;
  const FarmServer server(farm);
  farm.tracker.next_joined();
  REQUIRE(unlink(farm.files.path("board.key").c_str()) == 0);
  farm.tracker.set_key(farm.files.add("board.key"));
  farm.tracker.next_joined().expect<Heartbeat>();
}

}  // namespace
}  // namespace ferry::test
