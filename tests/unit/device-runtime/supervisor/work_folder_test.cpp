#include "device-runtime/supervisor/work_folder.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ferry::device {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a work folder with a relative path stays where it is when a session changes to another folder") {
  std::string pattern = (fs::temp_directory_path() / "ferry-work-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  const fs::path before = fs::current_path();
  fs::current_path(pattern);
  const Result<WorkFolder> folder = WorkFolder::open("work");
  fs::current_path(before);
  REQUIRE_MESSAGE(folder.is_ok(), folder.status().message());
  CHECK(fs::path(folder.value().path()) == fs::canonical(pattern) / "work");
  CHECK(fs::is_directory(folder.value().modules()));
  CHECK(fs::is_directory(folder.value().blobs()));
  fs::remove_all(pattern);
}

// A folder for temporary files, in place of the usual one.
class Temporary {
 public:
  Temporary() {
    std::string pattern = (fs::temp_directory_path() / "ferry-work-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    const char* before = getenv("TMPDIR");
    if (before != nullptr) before_ = before;
    setenv("TMPDIR", pattern.c_str(), 1);
  }
  ~Temporary() {
    before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1);
    fs::remove_all(path_);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const fs::path& path() const { return path_; }
  bool is_empty() const { return fs::is_empty(path_); }

 private:
  fs::path path_;
  std::string before_;
};

TEST_CASE("what a killed server left is removed by the next, whenever it was killed") {
  const Temporary temporary;
  const fs::path made = temporary.path() / "rpc_server.aaaaaa", locked = temporary.path() / "rpc_server.bbbbbb",
                 used = temporary.path() / "rpc_server.cccccc";
  fs::create_directory(made);
  fs::create_directory(locked);
  std::ofstream(locked / "lock").close();
  fs::create_directories(used / "modules");
  fs::create_directories(used / "session-7-1");
  std::ofstream(used / "session-7-1" / "a file") << "text";
  std::ofstream(used / "lock").close();
  const Result<WorkFolder> folder = WorkFolder::open("");
  REQUIRE_MESSAGE(folder.is_ok(), folder.status().message());
  CHECK_FALSE(fs::exists(made));
  CHECK_FALSE(fs::exists(locked));
  CHECK_FALSE(fs::exists(used));
}

TEST_CASE("the folder of a server that runs is left to it") {
  const Temporary temporary;
  {
    const Result<WorkFolder> first = WorkFolder::open(""), second = WorkFolder::open("");
    REQUIRE(first.is_ok());
    REQUIRE(second.is_ok());
    CHECK(first.value().path() != second.value().path());
    CHECK(fs::is_directory(first.value().modules()));
  }
  CHECK(temporary.is_empty());
}

TEST_CASE("servers that start at the same time each get a folder") {
  const Temporary temporary;
  std::vector<pid_t> servers;
  for (int i = 0; i < 8; ++i) {
    const pid_t server = fork();
    REQUIRE(server >= 0);
    if (server == 0) {
      bool all = true;
      for (int round = 0; round < 100; ++round) {
        const Result<WorkFolder> folder = WorkFolder::open("");
        all = all && folder.is_ok() && folder.value().path().rfind(temporary.path().string(), 0) == 0;
      }
      _exit(all ? 0 : 1);
    }
    servers.push_back(server);
  }
  for (const pid_t server : servers) {
    int status = -1;
    CHECK(waitpid(server, &status, 0) == server);
    CHECK(status == 0);
  }
  CHECK(temporary.is_empty());
}

TEST_CASE("what others have done to the folders of kept files is undone when a server starts") {
  std::string pattern = (fs::temp_directory_path() / "ferry-work-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  const std::string kept = std::string(64, 'a') + ".ferry", foreign = std::string(64, 'b') + ".ferry";
  fs::path modules, blobs;
  {
    const Result<WorkFolder> folder = WorkFolder::open(pattern);
    REQUIRE(folder.is_ok());
    modules = folder.value().modules();
    blobs = folder.value().blobs();
  }
  const std::string of_holder = std::string(64, 'a') + ".0123456789abcdef.ferry";
  for (const std::string& name : {kept, foreign, of_holder, std::string("part.123456"), std::string("notes"),
                                  std::string(64, 'C') + ".ferry", std::string(64, 'd') + ".blob"})
    std::ofstream(modules / name) << "bytes";
  fs::create_directories(modules / "deep" / "deeper");
  fs::create_directory(modules / (std::string(64, 'e') + ".ferry"));
  fs::create_symlink("/etc/passwd", modules / (std::string(64, 'f') + ".ferry"));
  REQUIRE(mkfifo((blobs / "pipe").c_str(), 0600) == 0);
  if (getuid() == 0) {
    REQUIRE(chown((modules / foreign).c_str(), 65534, 65534) == 0);
    REQUIRE(chown(blobs.c_str(), 65534, 65534) == 0);
  } else {
    fs::remove(modules / foreign);
  }
  REQUIRE(chmod(modules.c_str(), 0) == 0);
  REQUIRE(chmod(blobs.c_str(), 0777) == 0);
  {
    const Result<WorkFolder> folder = WorkFolder::open(pattern);
    REQUIRE_MESSAGE(folder.is_ok(), folder.status().message());
    for (const fs::path& path : {modules, blobs}) {
      struct stat info{};
      REQUIRE(stat(path.c_str(), &info) == 0);
      CHECK(info.st_uid == geteuid());
      CHECK((info.st_mode & 0777) == 0700);
    }
    std::vector<std::string> left;
    for (const auto& entry : fs::directory_iterator(modules)) left.push_back(entry.path().filename());
    std::sort(left.begin(), left.end());
    CHECK(left == std::vector<std::string>{of_holder, kept, "part.123456"});
    CHECK(fs::is_empty(blobs));
    CHECK(fs::exists("/etc/passwd"));
  }
  fs::remove_all(pattern);
}

TEST_CASE("the session folders of an earlier server with the number of this one are removed") {
  std::string place = (fs::temp_directory_path() / "ferry-work-XXXXXX").string();
  REQUIRE(mkdtemp(place.data()) != nullptr);
  const std::string left = place + "/session-" + std::to_string(getpid()) + "-1";
  fs::create_directories(left + "/inside");
  const Result<WorkFolder> folder = WorkFolder::open(place);
  REQUIRE(folder.is_ok());
  CHECK(!fs::exists(left));
  CHECK(folder.value().make_session_folder(1, 0, 0) == fs::canonical(place).string() + left.substr(place.size()));
  fs::remove_all(place);
}

}  // namespace
}  // namespace ferry::device
