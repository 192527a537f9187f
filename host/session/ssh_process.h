// The system's own ssh, run with a command for the other machine, its standard streams in our hands.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "host/session/destination.h"

namespace ferry::session {

class SshProcess {
 public:
  // Starts it. FERRY_SSH names another program than ssh. RemoteError when it cannot be run. Asks for passwords on the
  // terminal, if there is one.
  SshProcess(const SshAddress& address, const std::string& name, const std::string& command);
  // Closes its standard input and waits a little; then ends it.
  ~SshProcess();
  SshProcess(const SshProcess&) = delete;
  SshProcess& operator=(const SshProcess&) = delete;

  // The rest of the next line that starts with `marker`. RemoteError with ssh's own words when none comes.
  std::string answer(const std::string& marker);
  // All of it, then the end; false when the other side stopped listening.
  bool send(const std::string& bytes);
  // Our end of its standard input and output; the caller's to close, and to speak through from then on.
  int take_socket();
  // RemoteError with ssh's words if it has ended with a failure.
  void check_running();

 private:
  [[noreturn]] void fail();
  bool wait_for_end(std::chrono::milliseconds patience);
  std::string words() const;

  std::string name_;
  pid_t pid_ = -1;  // -1: reaped
  int status_ = 0;
  int socket_ = -1;
  int errors_ = -1;  // a file without a name
  std::string received_;
};

}  // namespace ferry::session
