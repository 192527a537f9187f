// An rpc_server of our own on this machine, for those who named none.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ferry::session {

// Where this build or installation keeps its server: FERRY_RPC_SERVER, beside the program, in libexec/ferry of the
// prefix it is installed in, or in the build tree. RemoteError with not_found names all the places.
std::filesystem::path find_rpc_server();

// Runs until this object or this process ends, whichever is first.
class LocalServer {
 public:
  explicit LocalServer(const std::filesystem::path& program, const std::vector<std::string>& arguments = {});
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // Waits until it listens. RemoteError with unavailable, and what the server said, when it never does.
  std::uint16_t port();
  pid_t pid() const { return pid_; }

 private:
  std::filesystem::path program_;
  pid_t pid_ = -1;
  int output_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace ferry::session
