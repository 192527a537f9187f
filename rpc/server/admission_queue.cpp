#include "rpc/server/admission_queue.h"

#include <sys/socket.h>

#include <algorithm>

#include "rpc/transport/keepalive.h"
#include "rpc/wire/connection.h"

namespace ferry::server {
namespace {

// Returns false if the client does not even receive this; it is then unreachable.
bool send_event(const WaitingClient& waiting, const rpc::WaitingEvent& event) {
  const auto frame = waiting.client.outgoing(rpc::event_frame(rpc::EventTag::waiting, event), false);
  return ::send(waiting.client.socket.number(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(frame.size());
}

}  // namespace

WaitingClient AdmissionQueue::take() {
  WaitingClient first = std::move(clients_.front());
  clients_.pop_front();
  moved_ = true;
  return first;
}

void AdmissionQueue::drop_gone() {
  const auto gone = std::remove_if(clients_.begin(), clients_.end(), [](const WaitingClient& waiting) {
    return is_peer_gone(waiting.client.socket.number());
  });
  moved_ = moved_ || gone != clients_.end();
  clients_.erase(gone, clients_.end());
}

void AdmissionQueue::notify(std::uint64_t holder, const std::string& name, std::uint64_t held_ms) {
  std::uint32_t position = 0;
  bool lost = false;
  for (WaitingClient& waiting : clients_) {
    ++position;
    if (!moved_ && waiting.notified_of == holder) continue;
    waiting.notified_of = holder;
    if (send_event(waiting, {position, name, held_ms})) continue;
    shutdown(waiting.client.socket.number(), SHUT_RDWR);
    lost = true;
  }
  moved_ = false;
  if (lost) drop_gone();
}

}  // namespace ferry::server
