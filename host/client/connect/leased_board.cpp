#include "host/client/connect/leased_board.h"

#include "base/throw_status.h"
#include "host/client/connect/ssh.h"

namespace ferry::session {

namespace {

using Clock = std::chrono::steady_clock;

class LeaseOfOthers final : public Lease {
 public:
  explicit LeaseOfOthers(std::chrono::milliseconds remaining) : end_(Clock::now() + remaining) {}
  std::chrono::milliseconds remaining() const override {
    return std::max(std::chrono::milliseconds(0), std::chrono::floor<std::chrono::milliseconds>(end_ - Clock::now()));
  }
  std::string why_ended() const override { return ""; }

 private:
  Clock::time_point end_;
};

}  // namespace

std::shared_ptr<const Lease> lease_for(std::chrono::milliseconds remaining) {
  return std::make_shared<LeaseOfOthers>(remaining);
}

std::shared_ptr<Connector> board_connector(const LeasedBoard& board, const std::string& name, Detour detour,
                                           SshOptions options) {
  if (board.address.starts_with(kSshScheme)) {
    return std::make_shared<SshConnector>(parse_ssh_address(board.address), name, board, options);
  }
  return std::make_shared<TcpConnector>(
      TcpDevice{.address = value_or_throw(parse_tcp_address(board.address, kDefaultPort)),
                .name = name,
                .board = board.full_name(),
                .key = ServerKey{secure::Key{board.psk}},
                .lease = board.lease,
                .detour = std::move(detour)});
}

}  // namespace ferry::session
