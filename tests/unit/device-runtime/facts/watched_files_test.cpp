#include "device-runtime/facts/watched_files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "device-runtime/facts/proc_files.h"

namespace ferry::device {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) { return read_small_file(open_watched(path, true).number()); }

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
  std::string text(std::string path) const {
    put_core(path);
    return read_small_file(open_watched(path, false, root_).number());
  }
  void forbid(const std::string& path) const { fs::permissions(root_ + path, fs::perms::owner_read); }
  std::string text_for_own_user(const std::string& path) const {
    return read_small_file(open_watched(path, true, root_).number());
  }

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

TEST_CASE("files of single processes are not read, nor what links of /proc lead to") {
  const auto here = std::filesystem::temp_directory_path() / ("ferry-watched-" + std::to_string(getpid()));
  std::ofstream(here) << "secret";
  const std::string file = here.string();
  const int open_file = open(file.c_str(), O_RDONLY);
  for (const std::string& path :
       {"/proc/self/root" + file, "/proc/thread-self/root" + file, "/proc/self/cwd/../" + file,
        std::string("/proc/self/exe"), "/proc/self/fd/" + std::to_string(open_file), std::string("/proc/self/status"),
        std::string("/proc/self/root/proc/uptime"), "/proc/" + std::to_string(getpid()) + "/environ",
        "/proc/" + std::to_string(getppid()) + "/cmdline", std::string("/proc/1/status"),
        std::string("/proc//self/status"), std::string("/proc/./self/maps"), std::string("/proc//1/status"),
        std::string("/proc/./1/cmdline")}) {
    CAPTURE(path);
    CHECK(text_of(path).empty());
  }
  close(open_file);
  fs::remove(here);
  CHECK_FALSE(text_of("/proc/uptime").empty());
}

TEST_CASE("of files that not everybody may read only meters of energy are read, for the server's own user") {
  FakeBoard board;
  for (const std::string path : {"/proc/kmsg", "/sys/firmware/table", "/sys/class/powercap/intel-rapl:0/energy_uj"}) {
    CAPTURE(path);
    board.file(path, "1");
    CHECK(board.text(path) == "1");
    board.forbid(path);
    CHECK(board.text(path).empty());
    CHECK(board.text_for_own_user(path) == (path.find("energy") != std::string::npos ? "1" : ""));
  }
}

TEST_CASE("before and after are kept beside each other, and files that are not there are left out") {
  const auto texts = [](const std::vector<std::string>& paths) {
    std::vector<std::string> all;
    for (const std::string& path : paths) all.push_back(text_of(path));
    return all;
  };
  auto files = watch_before({"/proc/loadavg", "/sys/none", "/proc/stat"}, texts);
  REQUIRE(files.size() == 2);
  CHECK(files[0].path == "/proc/loadavg");
  CHECK_FALSE(files[0].before.empty());
  CHECK(files[0].after.empty());
  watch_after(files, texts);
  CHECK(files[1].after.rfind("cpu ", 0) == 0);
}

}  // namespace
}  // namespace ferry::device
