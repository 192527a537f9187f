// Devices that are reached by ssh, ssh://[USER@]HOST[:PORT]: a server is started there for each session.
#pragma once

#include <optional>
#include <string>

#include "host/client/connect/leased_board.h"
#include "host/client/connect/schemes.h"
#include "host/client/connect/ssh_process.h"

namespace ferry::session {

class SshConnector final : public Connector {
 public:
  // With a `board`, its sessions are those of its lease, and end with it.
  SshConnector(SshAddress address, std::string name, std::optional<LeasedBoard> board = {}, SshOptions options = {});
  const SshAddress& address() const { return address_; }
  const std::optional<LeasedBoard>& board() const { return board_; }
  Link open(const ConnectOptions& options) override;
  void expect_shared_server() const override;

 private:
  SshAddress address_;
  std::string name_;
  std::optional<LeasedBoard> board_;
  SshOptions options_;
};

Scheme ssh_scheme();

}  // namespace ferry::session
