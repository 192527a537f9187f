// A private rpc_server on this machine, for users who name none.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "host/client/connect/connector.h"

namespace ferry::session {

// Returns the server of this build or installation: FERRY_RPC_SERVER, beside the program, in libexec/ferry of the
// installation prefix, or in the build tree. Throws Error with not_found that lists these places.
std::filesystem::path find_rpc_server();

// Returns the static server that is sent to boards of this architecture; empty if there is none.
std::filesystem::path find_board_server(const std::string& arch);

// A server for this process alone, over a socket pair that nobody else can reach. It ends when this process closes its
// end or terminates.
class LocalServer final : public SessionServer {
 public:
  // The server also gets the descriptor of a SharedObject, unless it is -1.
  explicit LocalServer(const std::filesystem::path& program, const std::vector<std::string>& arguments = {},
                       int shared_object = -1);
  // Terminates the server, unless closing the connection has ended it.
  ~LocalServer() override;
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // Transfers ownership of this end of the pair to the caller; may be called once.
  int take_socket();
  void check_running() override;
  pid_t pid() const { return pid_; }

 private:
  std::filesystem::path program_;
  pid_t pid_ = -1;  // -1: reaped
  int socket_ = -1;
};

}  // namespace ferry::session
