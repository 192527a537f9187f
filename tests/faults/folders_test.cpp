// Tests of folders that other users have prepared, folders that are full, and folders that a killed server leaves
// behind.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class Place {
 public:
  Place() {
    char pattern[] = "/tmp/ferry-folders-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    path_ = pattern;
  }
  ~Place() { fs::remove_all(path_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct stat info_of(const std::string& path) {
  struct stat info{};
  CHECK(lstat(path.c_str(), &info) == 0);
  return info;
}

std::string refusal(const std::string& workdir, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--workdir", workdir, "--port", "0", "--insecure-plaintext"});
  const ProcessResult result = run_server_program(more);
  CHECK(result.exit_code == 1);
  return result.errors;
}

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("a link in the place of a folder of kept files is refused, and what it leads to stays as it was") {
  for (const std::string name : {"modules", "blobs"}) {
    CAPTURE(name);
    const Place place;
    fs::create_directory(place / "work");
    fs::permissions(place / "work", fs::perms::owner_all);
    fs::create_directory(place / "target");
    fs::create_symlink(place / "target", place / ("work/" + name));
    const struct stat before = info_of(place / "target");
    std::vector<std::string> options;
    if (getuid() == 0) options = {"--user", "nobody"};
    CHECK(refusal(place / "work", options).find("work/" + name + ": expected a folder, got a link or a file") !=
          std::string::npos);
    CHECK(info_of(place / "target").st_uid == before.st_uid);
    CHECK(info_of(place / "target").st_mode == before.st_mode);
  }
}

TEST_CASE("blobs that sessions of another user have received are kept for the next session") {
  if (getuid() != 0) return;  // only root can become somebody else
  const Place place;
  fs::permissions(place.path(), fs::perms::owner_all | fs::perms::others_exec | fs::perms::group_exec);
  TestServer server({"--user", "nobody", "--workdir", place / "work"});
  const Bytes contents(100'000, 7);
  const Hash hash = blake2b(contents);
  {
    TestClient client(server.port());
    client.must(rpc::PutBlob{hash, contents.size(), 0}, contents);
  }
  TestClient client(server.port());
  CHECK(client.must(rpc::FindBlobs{{hash}}).reply.missing.empty());
  CHECK(names_in(place / "work/blobs") == std::vector<std::string>{to_hex(hash) + ".blob"});
}

TEST_CASE("a work folder that is a link, or that others may write to, is refused") {
  const Place place;
  fs::create_directory(place / "target");
  fs::create_symlink(place / "target", place / "link");
  CHECK(refusal(place / "link").find("expected a folder, got a link or a file") != std::string::npos);
  fs::create_directory(place / "open");
  fs::permissions(place / "open", fs::perms::all);
  CHECK(refusal(place / "open").find("others may write to it (mode 777)") != std::string::npos);
}

TEST_CASE("a work folder of another user is refused") {
  if (getuid() != 0) return;  // only root can create one
  const Place place;
  fs::create_directory(place / "foreign");
  fs::permissions(place / "foreign", fs::perms::owner_all);
  REQUIRE(chown((place / "foreign").c_str(), kNobody, kNobody) == 0);
  CHECK(refusal(place / "foreign").find("expected a folder of user 0, got one of user 65534") != std::string::npos);
}

// Waits until a process has begun to remove the session's files from the folder, and returns that process.
pid_t wait_for_cleaner(const TestServer& server, pid_t session, const std::string& folder, std::size_t left) {
  for (int i = 0; i < 5000; ++i) {
    for (const pid_t child : children_of(server.process())) {
      if (child != session && names_in(folder).size() < left) return child;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return -1;
}

// Continues a stopped process on destruction.
struct Stopped {
  pid_t process = -1;
  ~Stopped() {
    if (process > 0) kill(process, SIGCONT);
  }
};

TEST_CASE("what a session leaves behind is removed by its own user, and the port is free meanwhile") {
  const Place place;
  fs::permissions(place.path(), fs::perms::all);
  const std::string work = place / "work";
  std::string port;
  Stopped cleaner;
  {
    std::vector<std::string> options = {"--workdir", work};
    if (getuid() == 0) options.insert(options.end(), {"--user", "nobody"});
    TestServer server(options);
    port = std::to_string(server.port());
    auto client = std::make_unique<TestClient>(server.port());
    std::string session;
    for (const std::string& name : names_in(work)) session = name.rfind("session-", 0) == 0 ? name : session;
    REQUIRE_FALSE(session.empty());
    if (getuid() == 0) CHECK(info_of(work + "/" + session).st_uid == kNobody);
    // Enough files that the process that removes them can be observed.
    const std::string folder = work + "/" + session;
    for (int i = 0; i < 15'000; ++i) std::ofstream(folder + "/" + std::to_string(i)) << i;
    const pid_t process = children_of(server.process()).front();
    client.reset();
    cleaner.process = wait_for_cleaner(server, process, folder, 15'000);
    REQUIRE(cleaner.process > 0);
    kill(cleaner.process, SIGSTOP);
    server.stop(SIGTERM);
  }
  TestServer next({"--workdir", work, "--port", port});
  CHECK(next.first_line().find(":" + port) != std::string::npos);
  check_next_session(next);
  kill(cleaner.process, SIGCONT);
  next.stop(SIGTERM);
  const auto is_clean = [&] { return names_in(work) == std::vector<std::string>{"blobs", "modules"}; };
  for (int i = 0; i < 1000 && !is_clean(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(is_clean());
}

TEST_CASE("the private folder of a server that was killed goes with the next start, one in use stays") {
  const Place place;
  const std::vector<std::string> here = {"env", "TMPDIR=" + place.path()};
  {
    TestServer in_use({}, here);
    {
      TestServer killed({}, here);
      TestClient client(killed.port());
      CHECK(names_in(place.path()).size() == 2);
      killed.stop(SIGKILL);
    }
    CHECK(names_in(place.path()).size() == 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until the server's session has ended too
    TestServer next({}, here);
    CHECK(names_in(place.path()).size() == 2);
    check_next_session(in_use);
    check_next_session(next);
  }
  CHECK(names_in(place.path()).empty());
}

}  // namespace
}  // namespace ferry::test
