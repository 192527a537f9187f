#include "rpc/server/acceptor.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "rpc/server/final_frame.h"
#include "rpc/server/pending_connection.h"
#include "rpc/transport/keepalive.h"

namespace ferry::server {
namespace {

constexpr std::chrono::milliseconds kAcceptRetry{100};

}  // namespace

struct Acceptor::State {
  Callbacks callbacks;
  PendingConnections pending;
  std::size_t handshakes = 0;
};

Acceptor::Acceptor(EventLoop& loop, const FirstRequestRules& rules, const KeySource* keys, SecretMemory& secrets,
                   std::size_t max_pending, Callbacks callbacks)
    : loop_(loop),
      rules_(rules),
      keys_(keys),
      secrets_(secrets),
      state_(std::make_shared<State>(State{std::move(callbacks), PendingConnections(max_pending)})),
      retry_(loop) {}

Acceptor::~Acceptor() { state_->callbacks = {}; }

void Acceptor::listen(int listener) {
  listener_.emplace(loop_, listener);
  accept();
}

void Acceptor::stop_listening() {
  if (listener_) listener_->close();
  retry_.cancel();
}

bool Acceptor::has_handshakes() const { return state_->handshakes != 0; }

void Acceptor::accept() {
  listener_->when_readable([this] {
    const int socket = accept4(listener_->number(), nullptr, nullptr, SOCK_CLOEXEC);
    // Most likely out of descriptors: clients that leave free some.
    if (socket < 0 && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) {
      return retry_.start(kAcceptRetry, [this] { accept(); });
    }
    if (socket >= 0) adopt(socket);
    accept();
  });
}

void Acceptor::adopt(int socket) {
  enable_keepalive(socket);
  ++state_->handshakes;
  const std::shared_ptr<State> state = state_;
  HandshakeEnd end{[state](HandshakenClient client) {
                     // Copied because a callback may destroy the acceptor, and itself with it.
                     if (const auto on_client = state->callbacks.on_client) on_client(std::move(client));
                   },
                   [state, &loop = loop_](int refused, std::vector<std::uint8_t> frame) {
                     state->pending.add(send_final_frame(loop, refused, std::move(frame)));
                   },
                   [state] {
                     --state->handshakes;
                     if (const auto on_end = state->callbacks.on_end) on_end();
                   }};
  if (state->callbacks.on_relay) {
    end.relayed = [state](Descriptor relayed, const rpc::RelayTicket& ticket) {
      if (const auto on_relay = state->callbacks.on_relay) on_relay(std::move(relayed), ticket);
    };
  }
  state->pending.add(begin_handshake(loop_, socket, rules_, keys_, secrets_, std::move(end)));
}

}  // namespace ferry::server
