// Lets boards and clients in: listens, does their handshakes, and decides by its key who may stay and as what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/descriptor.h"
#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/key_directory.h"
#include "farm/tracker/peers.h"
#include "rpc/server/acceptor.h"
#include "rpc/server/final_frame.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::farm {

// Handshakes at a time.
inline constexpr std::size_t kMaxPending = 1024;

class PeerListener {
 public:
  struct Callbacks {
    // Return why the peer, whose credential counts, is refused.
    std::function<Status(server::HandshakenClient&, const Credential&)> admit_board, admit_client;
    std::function<void(Descriptor, const rpc::RelayTicket&)> accept_relay_end;
  };

  // All must outlive this object. `secrets` needs room for so many connections and kMaxPending more.
  PeerListener(server::EventLoop& loop, const ActiveScheduler& scheduler, const KeyDirectory& keys, Peers& peers,
               server::SecretMemory& secrets, std::size_t max_connections, Callbacks callbacks)
      : loop_(loop),
        scheduler_(scheduler),
        keys_(keys),
        peers_(peers),
        secrets_(secrets),
        max_connections_(max_connections),
        callbacks_(std::move(callbacks)) {}
  PeerListener(const PeerListener&) = delete;
  PeerListener& operator=(const PeerListener&) = delete;

  // Takes the address, but answers nobody yet; with port 0 any free one, and the same again later.
  Status bind(const std::string& host, std::uint16_t port);
  // Admits whoever may come. Takes the address again if it was given up.
  Status open();
  // Gives the address up, so that whoever dials goes to another tracker at once. Connections stay.
  void close();

  // "127.0.0.1:9191"
  const std::string& address() const { return address_; }
  // The same as this machine reaches it.
  TcpAddress own_address() const;
  // Connections that were refused after their handshakes, in total.
  std::uint64_t refused() const { return refused_; }

 private:
  void admit(server::HandshakenClient client);
  Status refusal_of(server::HandshakenClient& client);

  server::EventLoop& loop_;
  const ActiveScheduler& scheduler_;
  const KeyDirectory& keys_;
  Peers& peers_;
  server::SecretMemory& secrets_;
  const std::size_t max_connections_;
  const Callbacks callbacks_;
  server::FinalFrames final_frames_{loop_, kMaxPending / 4};
  std::uint64_t refused_ = 0;
  std::string host_;
  std::uint16_t port_ = 0;
  std::string address_;
  Descriptor listener_;
  std::unique_ptr<server::Acceptor> acceptor_;
};

}  // namespace ferry::farm
