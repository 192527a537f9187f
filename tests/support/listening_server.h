// An rpc_server of any architecture, listening on a free port of loopback as long as this object lives.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ferry::test {

class ListeningServer {
 public:
  // The program, run by an emulator when `emulator` is not empty ({"qemu-arm", "-cpu", "cortex-a7"}). Throws what it
  // said instead of listening. Without --key-file among the arguments it lets everybody in, in the clear.
  explicit ListeningServer(const std::string& program, const std::vector<std::string>& emulator = {},
                           const std::vector<std::string>& arguments = {});
  ~ListeningServer();
  ListeningServer(const ListeningServer&) = delete;
  ListeningServer& operator=(const ListeningServer&) = delete;

  // What a client connects to.
  std::string address() const { return (encrypted_ ? "" : "plaintext://") + place(); }
  std::string place() const { return "127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  int port_ = 0;
  bool encrypted_ = false;
};

// The emulator, with the CPU that tests run on, for an architecture; empty for this machine's own.
std::vector<std::string> emulator_of(const std::string& arch);

}  // namespace ferry::test
