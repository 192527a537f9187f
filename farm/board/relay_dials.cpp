#include "farm/board/relay_dials.h"

#include <sys/socket.h>

#include <utility>

#include "rpc/server/outgoing_connection.h"
#include "rpc/wire/frame.h"

namespace ferry::device {
namespace {

// The tracker forgets the token after this time.
constexpr std::chrono::milliseconds kRelayTimeout{10'000};

class RelayDial final : public server::OutgoingConnection {
 public:
  RelayDial(server::EventLoop& loop, Descriptor socket, std::uint64_t token, const std::function<void(int)>& connected)
      : OutgoingConnection(loop, std::move(socket)), token_(token), connected_(connected) {}

 private:
  void on_connected() override {
    rpc::Preamble preamble;
    preamble.mode = rpc::PreambleMode::relay;
    preamble.relay = {token_, rpc::RelayEnd::board};
    const auto bytes = rpc::encode_preamble(preamble);
    // Nothing has been sent before, so the send buffer has room for it.
    const ssize_t sent = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(bytes.size())) return abandon();
    timer_.cancel();
    connected_(socket_.release());
  }

  // The client learns from the tracker that nobody has come.
  void on_failed(const Status& /*why*/) override { abandon(); }

  std::uint64_t token_;
  const std::function<void(int)>& connected_;
};

}  // namespace

void RelayDials::dial(const server::SocketAddress& tracker, std::uint64_t token) {
  Result<Descriptor> socket = server::socket_for(tracker);
  if (!socket.is_ok()) return;
  const auto attempt = std::make_shared<RelayDial>(loop_, std::move(socket.value()), token, connected_);
  pending_.add(attempt);
  attempt->start(tracker, kRelayTimeout);
}

}  // namespace ferry::device
