// A real sshd on a free port of loopback, started as an ordinary process with its own configuration, keys and log in a
// folder of its own: the machine's ssh is not touched. It stands for a board.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"

namespace ferry::test {

class SshDaemon {
 public:
  SshDaemon();
  ~SshDaemon();
  SshDaemon(const SshDaemon&) = delete;
  SshDaemon& operator=(const SshDaemon&) = delete;

  // "ssh://me@127.0.0.1:2222"
  std::string address() const;
  // What a ferry that is to reach it must have in its environment.
  std::map<std::string, std::string> environment() const;
  // Lines of sh that every login runs first.
  void on_login(const std::string& script) const;
  // The client of later runs believes that the machine has another key.
  void forget_host_key() const;

  // Where the board keeps servers, and what is in it.
  std::string cache() const { return folder_.path("cache"); }
  std::vector<std::string> cached() const;
  // Servers that run from there, after waiting some seconds for there to be none.
  std::vector<pid_t> running_servers() const;
  const Folder& folder() const { return folder_; }

 private:
  Folder folder_;
  int port_ = 0;
  pid_t pid_ = -1;
  bool made_run_folder_ = false;
};

}  // namespace ferry::test
