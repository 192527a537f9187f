// A board that is reached by ssh, without any ssh: FERRY_SSH names a script that runs commands on this machine, each in
// a session of its own, as sshd does. The board's home and cache are in a temporary folder.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {

class FakeSsh {
 public:
  FakeSsh() {
    std::filesystem::create_directories(cache());
    std::filesystem::permissions(cache(), std::filesystem::perms(0700));
    on_login("");
    write("ssh",
          "#!/bin/sh\nfor word; do [ \"$word\" = -- ] && break; shift; done\nshift\n"
          "unset FERRY_SSH\nexport HOME='" +
              folder_.path() + "' XDG_CACHE_HOME='" + folder_.file("cache") + "'\n. '" + folder_.file("on_login") +
              "'\nexec setsid /bin/sh -c \"$2\"\n",
          0700);
    setenv("FERRY_SSH", folder_.file("ssh").c_str(), 1);
  }
  ~FakeSsh() { unsetenv("FERRY_SSH"); }
  FakeSsh(const FakeSsh&) = delete;
  FakeSsh& operator=(const FakeSsh&) = delete;

  // Sets lines of sh that every login runs first; $1 is the host.
  void on_login(const std::string& script) const {
    // At once: a login may be under way.
    write("on_login.new", script + "\n", 0600);
    std::filesystem::rename(folder_.file("on_login.new"), folder_.file("on_login"));
  }
  // Writes a file into the board's home folder.
  void write(const std::string& name, const std::string& text, unsigned mode) const {
    const std::string path = folder_.file(name);
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
  }
  const std::string& home() const { return folder_.path(); }
  // Where servers and lock files are.
  std::string cache() const { return folder_.file("cache/ferry"); }
  // The names of the lock files.
  std::vector<std::string> locks() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(cache()))
      if (entry.path().filename().string().starts_with("lease-")) names.push_back(entry.path().filename());
    return names;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace ferry::test
