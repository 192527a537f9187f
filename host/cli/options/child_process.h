// Another program that runs as a part of a command.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <vector>

namespace ferry::cli {

// If this process is killed, the program and what it has started end (program_keeper.h). There may be one at a time.
// While it exists, SIGINT, SIGTERM and SIGHUP are passed on to the program, unless the terminal has sent them to it
// already, and do not end this process.
class ChildProcess {
 public:
  // Finds the program as a shell does. Throws UsageError.
  explicit ChildProcess(const std::vector<std::string>& words);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Returns its exit code, or 128 plus the number of the signal that has ended it.
  int wait();
  // Any thread; nothing happens once the program has ended. SIGKILL also ends what it has started.
  void send(int signal);
  bool has_ended() const;

 private:
  mutable std::mutex mutex_;
  pid_t process_ = -1;  // the keeper; -1 once it has ended
};

}  // namespace ferry::cli
