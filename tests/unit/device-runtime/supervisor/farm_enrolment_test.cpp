// A board that receives a key of its own in place of that of its enrolment.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/unit/device-runtime/supervisor/farm_fixture.h"

namespace ferry::test {
namespace {

using namespace farm::wire;
using Clock = std::chrono::steady_clock;

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("a board keeps the key that it receives and joins with it at once") {
  Farm farm;
  const FarmServer server(farm);
  const secure::Key own = secure::make_key();
  const std::string path = farm.files.path("board.key");
  JoiningBoard board = farm.tracker.next_joined();
  farm.tracker.set_key(own);
  board.send(Rekey{own.bytes});
  board.expect_end();
  // The key is on the disk before the connection is closed.
  CHECK(text_in(path) == secure::to_file_text(own));
  JoiningBoard again = farm.tracker.next_joined();
  struct stat info{};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(server.errors().find("has replaced the key in " + path) != std::string::npos);
  serve(again, lease_for(kLong, 1, secure::make_key()));
}

TEST_CASE("a board that is killed after it has received a key joins with it") {
  Farm farm;
  const secure::Key own = secure::make_key();
  {
    FarmServer server(farm);
    JoiningBoard board = farm.tracker.next_joined();
    board.send(Rekey{own.bytes});
    board.expect_end();
    server.stop(SIGKILL);
  }
  // It may have dialed again before that.
  while (farm.tracker.has_visitor(std::chrono::milliseconds(0))) farm.tracker.next_socket();
  // The draft of a key that was being written at that moment.
  std::ofstream(farm.files.path("board.key.new")) << "ferry-key-1:00";
  const FarmServer server(farm);
  farm.tracker.set_key(own);
  JoiningBoard board = farm.tracker.next_joined();
  // Some trackers repeat the key, since they cannot know whether it has arrived.
  board.send(Rekey{own.bytes});
  board.expect_end();
  farm.tracker.next_joined().expect<Heartbeat>();
  CHECK_FALSE(std::filesystem::exists(farm.files.path("board.key.new")));
}

TEST_CASE("a board whose key file cannot be replaced says so, and goes on with the key that it has") {
  Farm farm;
  const FarmServer server(farm);
  const std::string draft = farm.files.path("board.key.new");
  REQUIRE(mkdir(draft.c_str(), 0700) == 0);  // in the way of the file, also of root's
  const secure::Key own = secure::make_key();
  JoiningBoard board = farm.tracker.next_joined();
  board.send(Rekey{own.bytes});
  board.expect_end();
  CHECK(has_logged(server, "cannot make " + draft));
  CHECK(text_in(farm.files.path("board.key")) == secure::to_file_text(farm.key));
  // The tracker still accepts the key of its enrolment, and tries again.
  JoiningBoard again = farm.tracker.next_joined();
  REQUIRE(rmdir(draft.c_str()) == 0);
  again.send(Rekey{own.bytes});
  again.expect_end();
  farm.tracker.set_key(own);
  JoiningBoard enrolled = farm.tracker.next_joined();
  serve(enrolled, lease_for(kLong, 1, secure::make_key()));
}

TEST_CASE("a message that is no key ends the connection and leaves the file alone") {
  Farm farm;
  const FarmServer server(farm);
  for (const std::size_t bytes : {0, 1, 31, 33, 1000}) {
    CAPTURE(bytes);
    std::vector<std::uint8_t> body(bytes, 7);
    JoiningBoard board = farm.tracker.next_joined();
    board.send_raw(rpc::whole_frame({rpc::FrameKind::event, static_cast<std::uint16_t>(Tag::Rekey)}, body));
    board.expect_end();
    CHECK(text_in(farm.files.path("board.key")) == secure::to_file_text(farm.key));
  }
  farm.tracker.next_joined().expect<Heartbeat>();
}

TEST_CASE("a tracker that replaces the key again and again is dialed with pauses") {
  Farm farm;
  const FarmServer server(farm);
  const auto begin = Clock::now();
  for (int i = 0; i < 5; ++i) {
    const secure::Key key = secure::make_key();
    JoiningBoard board = farm.tracker.next_joined();
    board.send(Rekey{key.bytes});
    board.expect_end();
    farm.tracker.set_key(key);
  }
  farm.tracker.next_joined();
  // Four pauses, of at least half of 250, 500, 1000 and 2000 ms.
  CHECK(Clock::now() - begin > std::chrono::milliseconds(1800));
  CHECK(has_logged(server, "it has replaced the key again"));
}

}  // namespace
}  // namespace ferry::test
