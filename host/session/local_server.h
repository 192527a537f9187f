// An rpc_server of our own on this machine, for those who named none.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace ferry::session {

// Where this build or installation keeps its server: FERRY_RPC_SERVER, beside the program, in libexec/ferry of the
// prefix it is installed in, or in the build tree. RemoteError with not_found names all the places.
std::filesystem::path find_rpc_server();

// The static one that is sent to boards of this architecture; empty when there is none.
std::filesystem::path find_board_server(const std::string& arch);

// Serves us alone, over a pair of sockets that nobody else can reach, and ends when we close ours or this process ends.
class LocalServer {
 public:
  explicit LocalServer(const std::filesystem::path& program, const std::vector<std::string>& arguments = {});
  // Ends it, if the connection's end has not.
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // Our end of the pair, once; the caller's to close.
  int take_socket();
  // RemoteError with unavailable and how the program ended, if it has.
  void check_running();
  pid_t pid() const { return pid_; }

 private:
  std::filesystem::path program_;
  pid_t pid_ = -1;  // -1: reaped
  int socket_ = -1;
};

}  // namespace ferry::session
