// Tests the limits on a session's resource usage with this process and a folder that a session might have left.
#include "device-runtime/supervisor/session_usage.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

namespace ferry::device {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    char pattern[] = "/tmp/ferry-usage-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

SandboxOptions unlimited(const std::string& folder) {
  SandboxOptions options;
  options.folder = folder;
  options.filter = Filter::gpu;
  return options;
}

// Checks repeatedly, so that the separate process that counts finishes at least twice.
Status verdict(SessionUsage& usage, int checks = 100) {
  Status status;
  for (int i = 0; i < checks && status.is_ok(); ++i) {
    status = usage.check();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return status;
}

TEST_CASE("few files, links to large folders and a folder that is gone are fine") {
  const Folder folder;
  SessionUsage usage(getpid(), unlimited(folder.path()));
  CHECK(verdict(usage).is_ok());
  fs::create_directories(folder.path() + "/a/b/c");
  std::ofstream(folder.path() + "/a/b/c/file") << "text";
  fs::create_directory_symlink("/", folder.path() + "/a/everything");
  CHECK(verdict(usage).is_ok());
  fs::remove_all(folder.path());
  CHECK(verdict(usage).is_ok());
}

TEST_CASE("too many files are too much, however small") {
  const Folder folder;
  std::ofstream(folder.path() + "/first") << "text";
  for (std::size_t i = 0; i < kMaxSessionFiles; ++i) {
    const std::string parent = folder.path() + "/" + std::to_string(i / 1000);
    if (i % 1000 == 0) fs::create_directory(parent);
    fs::create_hard_link(folder.path() + "/first", parent + "/" + std::to_string(i));
  }
  SessionUsage usage(getpid(), unlimited(folder.path()));
  const Status status = verdict(usage, 3000);  // counting takes long where the machine is busy
  CHECK(status.code() == ErrorCode::resource_exhausted);
  CHECK(status.message() == "the session was stopped: it made more than 20000 files and folders");
}

#if !defined(__SANITIZE_ADDRESS__)  // AddressSanitizer itself needs unlimited memory
TEST_CASE("memory that the system does not count for the limit is counted, once there is a limit") {
  constexpr std::size_t kShared = 160 << 20;
  void* shared = mmap(nullptr, kShared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  std::memset(shared, 1, kShared);
  SandboxOptions options;
  options.memory_bytes = 1;
  SessionUsage usage(getpid(), options);
  CHECK(usage.check().is_ok());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_DATA, &before) == 0);
  const rlimit limited{all_memory(options), before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_DATA, &limited) == 0);
  const Status status = usage.check();
  REQUIRE(setrlimit(RLIMIT_DATA, &before) == 0);
  munmap(shared, kShared);
  CHECK(status.code() == ErrorCode::resource_exhausted);
  CHECK(status.message() ==
        "the session was stopped: it holds more memory than it may, that of files and of page tables included, "
        "expected at most 138 MiB "
        "(rpc_server --memory-limit)");
}
#endif

}  // namespace
}  // namespace ferry::device
