// A program that a test or a benchmark runs: it ends with this object.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace ferry::test {

class Process {
 public:
  // What it writes is appended to the file `output`. `environment` are further entries, "NAME=VALUE". The network is
  // that of a namespace (virtual_network.h), or the calling thread's.
  Process(std::vector<std::string> command, std::string output, std::vector<std::string> environment = {},
          int network_namespace = -1);
  // With SIGKILL.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return process_; }
  void signal(int number) const;
  bool has_ended() const;
  // Returns its exit code, or 128 + the number of the signal that has ended it. Throws if it does not end in time.
  int wait(std::chrono::seconds patience = std::chrono::seconds(20));
  // What it has written so far.
  std::string output() const;
  // Returns what follows `text` on the first line that it has written with it. Throws the output if there is none
  // within 20 s, or if the process has ended.
  std::string wait_for(const std::string& text) const;
  // User and system time so far.
  double cpu_seconds() const;
  // The most memory that it has had.
  double peak_megabytes() const;

 private:
  std::string output_;
  std::size_t output_start_ = 0;  // what was in the file before
  pid_t process_ = -1;            // -1: it has ended
};

}  // namespace ferry::test
