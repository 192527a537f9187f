#include "rpc/transport/transport.h"

#include <string>

namespace ferry {

Status closed_by_peer(std::size_t received, std::size_t at_least) {
  if (received == 0) return Status(ErrorCode::unavailable, kPeerClosed);
  return Status(ErrorCode::unavailable, std::string(kPeerClosed) + " after " + std::to_string(received) + " of " +
                                            std::to_string(at_least) + " bytes");
}

Status receive_timed_out(std::chrono::milliseconds timeout) {
  return Status(ErrorCode::deadline_exceeded, "no answer within " + std::to_string(timeout.count()) + " ms");
}

}  // namespace ferry
