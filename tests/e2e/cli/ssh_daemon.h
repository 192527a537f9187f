// A real sshd that stands for a board. It listens on a free port of loopback and runs as an ordinary process with its
// own configuration, keys and log in a temporary folder; the machine's ssh is not touched.
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
  // The environment variables that a ferry needs to reach it.
  std::map<std::string, std::string> environment() const;
  // Sets lines of sh that every login runs first.
  void on_login(const std::string& script) const;
  // Makes the client expect another host key in later runs.
  void forget_host_key() const;

  // The folder where the board keeps servers, and its contents.
  std::string cache() const { return folder_.path("cache"); }
  std::vector<std::string> cached() const;
  // Returns the servers that run from that folder, after waiting up to some seconds for them to end.
  std::vector<pid_t> running_servers() const;
  const Folder& folder() const { return folder_; }

 private:
  Folder folder_;
  int port_ = 0;
  pid_t pid_ = -1;
  bool made_run_folder_ = false;
};

}  // namespace ferry::test
