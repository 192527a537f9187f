// Tests the removal of a session's files while another process replaces its folders by links.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "device-runtime/sandbox/sandbox.h"

namespace ferry::device {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;
constexpr unsigned kExchange = 2;  // flag of renameat2

std::string make_folder() {
  char pattern[] = "/tmp/ferry-remove-XXXXXX";
  REQUIRE(mkdtemp(pattern) != nullptr);
  return pattern;
}

mode_t mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777;
}

TEST_CASE("folders without rights, deep ones and links are removed, and what links lead to stays") {
  const std::string root = make_folder(), outside = make_folder();
  std::ofstream(outside + "/kept") << "kept";
  chmod(outside.c_str(), 0751);
  std::string deep = root;
  for (int depth = 0; depth < 60; ++depth) fs::create_directory(deep += "/a rather long name of a folder");
  fs::create_directories(root + "/closed/inner");
  fs::create_directory_symlink(outside, root + "/link");
  fs::create_directory_symlink(outside, root + "/closed/link");
  chmod((root + "/closed/inner").c_str(), 0);
  chmod((root + "/closed").c_str(), 0);
  remove_tree(root);
  CHECK_FALSE(fs::exists(root));
  CHECK(fs::exists(outside + "/kept"));
  CHECK(mode_of(outside) == 0751);
  remove_tree(outside);
}

// Exchanges a folder with a link to the victim as fast as possible.
pid_t start_exchanging(const std::string& root, uid_t user) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (user != 0 && (setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0)) _exit(1);
  const std::string folder = root + "/folder", link = root + "/link";
  while (true) syscall(SYS_renameat2, AT_FDCWD, folder.c_str(), AT_FDCWD, link.c_str(), kExchange);
}

void race(uid_t user) {
  const std::string victim = make_folder();
  chmod(victim.c_str(), 0751);
  std::ofstream(victim + "/kept") << "kept";
  for (int round = 0; round < 60; ++round) {
    const std::string root = make_folder();
    // The folder has contents, so that removal descends into it.
    fs::create_directories(root + "/folder/inner/more");
    fs::create_directory_symlink(victim, root + "/link");
    if (user != 0) {
      for (const char* name : {"", "/folder", "/folder/inner", "/folder/inner/more"}) {
        REQUIRE(chown((root + name).c_str(), user, user) == 0);
      }
    }
    const pid_t other = start_exchanging(root, user);
    usleep(500);
    remove_tree(root);
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    CHECK(mode_of(victim) == 0751);
    CHECK(fs::exists(victim + "/kept"));
    remove_tree(root);
    if (mode_of(victim) != 0751) break;
  }
  remove_tree(victim);
}

TEST_CASE("a folder that becomes a link while it is removed gives nobody's rights away") { race(0); }

TEST_CASE("root removes the folders of another user without being led astray by him") {
  if (getuid() == 0) race(kNobody);
}

TEST_CASE("root's own files in the folder of another user are not root's to remove") {
  if (getuid() != 0) return;
  const std::string root = make_folder();
  fs::create_directory(root + "/of root");
  std::ofstream(root + "/of root/kept") << "kept";
  chmod((root + "/of root").c_str(), 0755);
  REQUIRE(chown(root.c_str(), kNobody, kNobody) == 0);
  remove_tree(root);
  CHECK(fs::exists(root + "/of root/kept"));
  fs::remove_all(root);
}

}  // namespace
}  // namespace ferry::device
