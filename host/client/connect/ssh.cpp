#include "host/client/connect/ssh.h"

#include "base/throw_status.h"
#include "host/client/connect/ssh_server.h"
#include "host/client/connect/tcp.h"
#include "rpc/transport/socket.h"

namespace ferry::session {

SshConnector::SshConnector(SshAddress address, std::string name, std::optional<LeasedBoard> board, SshOptions options)
    : address_(std::move(address)), name_(std::move(name)), board_(std::move(board)), options_(options) {}

Link SshConnector::open(const ConnectOptions& options) {
  Link link;
  link.name = name_;
  if (board_) {
    link.board = board_->full_name();
    link.lease = board_->lease;
  }
  auto server = std::make_unique<SshServer>(address_, name_, options.log, board_ ? &*board_ : nullptr, options_);
  link.transport = value_or_throw(wrap_socket(server->take_socket()));
  link.server = std::move(server);
  return link;
}

void SshConnector::expect_shared_server() const {
  throw Error(ErrorCode::invalid_argument,
              name_ + " is served alone, by a server of its own: there is nobody to ask who else uses it");
}

Scheme ssh_scheme() {
  return {.prefix = kSshScheme,
          .form = "ssh://HOST",
          .check = [](const std::string& address) { parse_ssh_address(address); },
          .is_on_this_machine = [](const std::string& address) { return is_loopback(parse_ssh_address(address).host); },
          .connector =
              [](const Remote& remote, const Connectors&) {
                return std::make_shared<SshConnector>(parse_ssh_address(remote.address), remote.address);
              }};
}

}  // namespace ferry::session
