// An rpc_server on a board that is reached by ssh: nothing has to be installed there, no port is opened, and ssh's own
// keys and encryption hold. The right server is sent once and kept in a cache folder under the hash of its contents.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/session/ssh_process.h"

namespace ferry::session {

class SshServer {
 public:
  // Logs in, sends the server if the board lacks it, and starts it. `log` hears of what takes a while. RemoteError says
  // what is missing: a login, a server for that machine, a folder to put it into.
  SshServer(const SshAddress& address, const std::string& name, const std::function<void(const std::string&)>& log);

  // Our end of the connection, once; the caller's to close.
  int take_socket() { return process_->take_socket(); }
  void check_running() { process_->check_running(); }

 private:
  std::unique_ptr<SshProcess> process_;
};

}  // namespace ferry::session
