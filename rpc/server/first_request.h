// The requests with which a client may begin, which differ between servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "rpc/wire/frame.h"

namespace ferry::server {

struct FirstRequestRules {
  const char* names;     // "open or status", for messages
  std::size_t max_body;  // bytes
  bool (*is_known)(std::uint16_t tag);
  // Fails if the body of a known request is not valid, or if its client speaks no version that the server does. The
  // client is told why.
  Status (*check)(std::uint16_t tag, std::span<const std::uint8_t> body);
};

// A session's: open, whose body rpc::decode<rpc::Open>() then accepts, or status.
extern const FirstRequestRules kSessionRequests;

}  // namespace ferry::server
