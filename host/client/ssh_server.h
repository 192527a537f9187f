// An rpc_server on a board that is reached by ssh: nothing must be installed there, no port is opened, and ssh provides
// authentication and encryption. The matching server is sent once and kept in a cache folder under the hash of its
// contents.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host/client/ssh_process.h"

namespace ferry::session {

class SshServer {
 public:
  // Logs in, sends the server if the board lacks it, and starts it. `log` receives messages about slow steps. With a
  // claim the board is locked for its lease, and the session ends with it. Throws Error that says what is missing: a
  // login, a server for that machine, or a folder for it; `unavailable` if the lease has ended, `busy` if another
  // session of it does not end.
  SshServer(const SshAddress& address, const std::string& name, const std::function<void(const std::string&)>& log,
            const std::optional<BoardClaim>& claim = {}, const SshOptions& options = {});

  // Transfers ownership of this end of the connection to the caller; may be called once.
  int take_socket() { return process_->take_socket(); }
  void check_running() { process_->check_running(); }

 private:
  void start_session(const BoardClaim& claim, const std::string& name);

  std::unique_ptr<SshProcess> process_;
};

}  // namespace ferry::session
