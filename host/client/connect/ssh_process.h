// Runs the system's ssh with a command for the other machine and controls its standard streams.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "host/client/connect/ssh_address.h"

namespace ferry::session {

struct SshOptions {
  // For a service: ssh asks nobody for a password.
  bool is_unattended = false;
  // Until when answers must have arrived, counted from the start; 0: however long the user takes to log in.
  std::chrono::milliseconds timeout{0};
  // Waiting ends when this can be read from; it belongs to the caller. -1: nothing.
  int cancelled = -1;
};

class SshProcess {
 public:
  // Starts ssh, or the program named by FERRY_SSH. Throws Error when it cannot be run. It asks for passwords on
  // the terminal, if there is one.
  SshProcess(const SshAddress& address, const std::string& name, const std::string& command,
             const SshOptions& options = {});
  // Closes the process's standard input, waits briefly, then terminates it.
  ~SshProcess();
  SshProcess(const SshProcess&) = delete;
  SshProcess& operator=(const SshProcess&) = delete;

  // Returns the rest of the next line that starts with `marker`. Throws Error with ssh's own message if there is
  // none, with deadline_exceeded after the timeout, and with aborted if it was cancelled.
  std::string answer(const std::string& marker);
  // Sends all bytes; returns false if the other side stopped reading.
  bool write(const std::string& bytes);
  // The same, then end of file.
  bool send(const std::string& bytes);
  // Transfers ownership of this end of the process's standard input and output to the caller, who communicates through
  // it from then on.
  int take_socket();
  // Throws Error with ssh's message if it has ended with a failure.
  void check_running();

 private:
  [[noreturn]] void fail();
  // Returns once there is something to read.
  void wait_for_bytes();
  bool wait_for_end(std::chrono::milliseconds timeout);
  std::string words() const;

  std::string name_;
  SshOptions options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string login_;  // the same login by hand, for messages
  pid_t pid_ = -1;     // -1: reaped
  int status_ = 0;
  int socket_ = -1;
  int errors_ = -1;  // an unnamed file
  std::string received_;
  std::size_t skipped_ = 0;  // bytes of lines that were no answers
};

}  // namespace ferry::session
