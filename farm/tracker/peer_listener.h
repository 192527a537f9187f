// Lets boards and clients in: listens, does their handshakes, and decides by its key who may stay and as what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/descriptor.h"
#include "farm/tracker/core.h"
#include "rpc/server/acceptor.h"
#include "rpc/server/final_frame.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::farm {

// Handshakes at a time.
inline constexpr std::size_t kMaxPending = 1024;

class PeerListener {
 public:
  // All must outlive this object. `secrets` needs room for so many connections and kMaxPending more.
  PeerListener(Core& core, server::SecretMemory& secrets, std::size_t max_connections)
      : core_(core), secrets_(secrets), max_connections_(max_connections) {}
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

 private:
  void admit(server::HandshakenClient client);
  Status refusal_of(server::HandshakenClient& client);

  Core& core_;
  server::SecretMemory& secrets_;
  const std::size_t max_connections_;
  server::FinalFrames final_frames_{core_.loop, kMaxPending / 4};
  std::string host_;
  std::uint16_t port_ = 0;
  std::string address_;
  Descriptor listener_;
  std::unique_ptr<server::Acceptor> acceptor_;
};

}  // namespace ferry::farm
