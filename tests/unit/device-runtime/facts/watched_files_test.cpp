#include "device-runtime/facts/watched_files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ferry::device {
namespace {

namespace fs = std::filesystem;

// A tree of files that stands for a board's root folder.
class FakeBoard {
 public:
  FakeBoard() {
    char name[] = "/tmp/ferry-board-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    root_ = name;
  }
  ~FakeBoard() { fs::remove_all(root_); }
  FakeBoard(const FakeBoard&) = delete;
  FakeBoard& operator=(const FakeBoard&) = delete;

  void file(const std::string& path, const std::string& text) {
    fs::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
    std::ofstream(root_ + path) << text;
  }
  std::string text(const std::string& path) const { return watched_text(path, root_); }

 private:
  std::string root_;
};

TEST_CASE("files of /sys and /proc are read, those that are not there are empty") {
  FakeBoard board;
  board.file("/sys/class/thermal/thermal_zone0/temp", "48312\n");
  board.file("/proc/loadavg", "0.52 0.58 0.59 1/312 4242\n");
  CHECK(board.text("/sys/class/thermal/thermal_zone0/temp") == "48312\n");
  CHECK(board.text("/proc/loadavg") == "0.52 0.58 0.59 1/312 4242\n");
  CHECK(board.text("/sys/class/thermal/thermal_zone1/temp").empty());
}

TEST_CASE("the core that runs the measurement stands for its name in braces") {
  FakeBoard board;
  for (int core = 0; core < 1024; ++core) {
    board.file("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/scaling_cur_freq", "1500000\n");
  }
  CHECK(board.text("/sys/devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq") == "1500000\n");
}

TEST_CASE("nothing else is read, by whatever path") {
  FakeBoard board;
  board.file("/etc/shadow", "secret");
  board.file("/sys/x", "fine");
  CHECK(board.text("/sys/x") == "fine");
  CHECK(board.text("/etc/shadow").empty());
  CHECK(board.text("/sys/../etc/shadow").empty());
  CHECK(board.text("etc/shadow").empty());
  CHECK(board.text("").empty());
}

TEST_CASE("links of /proc that lead out of it are not followed") {
  const auto here = std::filesystem::temp_directory_path() / ("ferry-watched-" + std::to_string(getpid()));
  std::ofstream(here) << "secret";
  const std::string file = here.string();
  CHECK(watched_text("/proc/self/root" + file).empty());
  CHECK(watched_text("/proc/thread-self/root" + file).empty());
  CHECK(watched_text("/proc/self/cwd/../" + file).empty());
  CHECK(watched_text("/proc/self/exe").empty());
  const int open_file = open(file.c_str(), O_RDONLY);
  CHECK(watched_text("/proc/self/fd/" + std::to_string(open_file)).empty());
  close(open_file);
  fs::remove(here);
  CHECK_FALSE(watched_text("/proc/self/root/proc/uptime").empty());
  CHECK_FALSE(watched_text("/proc/self/status").empty());
}

TEST_CASE("before and after are kept beside each other, and files that are not there are left out") {
  const auto text = [](const std::string& path) { return watched_text(path); };
  auto files = watch_before({"/proc/loadavg", "/sys/none", "/proc/stat"}, text);
  REQUIRE(files.size() == 2);
  CHECK(files[0].path == "/proc/loadavg");
  CHECK_FALSE(files[0].before.empty());
  CHECK(files[0].after.empty());
  watch_after(files, text);
  CHECK(files[1].after.rfind("cpu ", 0) == 0);
}

}  // namespace
}  // namespace ferry::device
