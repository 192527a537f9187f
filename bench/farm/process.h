// A program that the benchmark runs: it ends with this object.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ferry::bench {

class Process {
 public:
  // What it writes goes to the file `output`. `environment` are further entries, "NAME=VALUE".
  Process(std::vector<std::string> command, std::string output, std::vector<std::string> environment = {});
  // With SIGKILL.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Returns what follows `text` on the first line of the output that contains it. Throws the output if there is none
  // within 20 s, or if the process has ended.
  std::string wait_for(const std::string& text) const;
  // User and system time so far.
  double cpu_seconds() const;
  // The most memory that it has had.
  double peak_megabytes() const;

 private:
  std::string output_;
  pid_t process_ = -1;
};

}  // namespace ferry::bench
