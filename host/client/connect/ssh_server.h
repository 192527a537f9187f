// An rpc_server on a board that is reached by ssh: nothing must be installed there, no port is opened, and ssh provides
// authentication and encryption. The matching server is sent once and kept in a cache folder under the hash of its
// contents.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/client/connect/leased_board.h"
#include "host/client/connect/ssh_process.h"

namespace ferry::session {

class SshServer final : public SessionServer {
 public:
  // Logs in, sends the server if the board lacks it, and starts it. `log` receives messages about slow steps. A
  // `leased` board (null: it is not) is locked for its lease, and the session ends with that. Throws Error that says
  // what is missing: a login, a server for that machine, or a folder for it; `unavailable` if the lease has ended,
  // `busy` if another session of it does not end.
  SshServer(const SshAddress& address, const std::string& name, const std::function<void(const std::string&)>& log,
            const LeasedBoard* leased = nullptr, const SshOptions& options = {});

  // Transfers ownership of this end of the connection to the caller; may be called once.
  int take_socket() { return process_->take_socket(); }
  void check_running() override { process_->check_running(); }

 private:
  void start_session(const Lease& lease, const std::string& name);

  std::unique_ptr<SshProcess> process_;
};

}  // namespace ferry::session
