// An rpc_server of any architecture that listens on a free port of loopback for the lifetime of this object.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ferry::test {

class ListeningServer {
 public:
  // Runs the program, under an emulator if `emulator` is not empty ({"qemu-arm", "-cpu", "cortex-a7"}). Throws the
  // program's output if it does not listen. Without --key-file in the arguments the server accepts everybody,
  // unencrypted.
  explicit ListeningServer(const std::string& program, const std::vector<std::string>& emulator = {},
                           const std::vector<std::string>& arguments = {});
  ~ListeningServer();
  ListeningServer(const ListeningServer&) = delete;
  ListeningServer& operator=(const ListeningServer&) = delete;

  // The address that a client connects to.
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

}  // namespace ferry::test
