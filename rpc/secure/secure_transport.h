// A transport whose bytes travel encrypted over another one, after the handshake. Large pieces are encrypted from where
// they lie into the buffer that is sent, and decrypted out of the buffer they arrived in into their final place.
//
// Fails, beside what every transport does, with protocol_error when the bytes that arrive are not those that the peer
// sent, in their order. What was sent before can then still be answered.
#pragma once

#include <memory>

#include "rpc/secure/record.h"
#include "rpc/transport/transport.h"

namespace ferry::secure {

// The peer's end counts as an end only when it said so in a record; a stream that just stops was cut, by the network or
// by somebody in between. What sending.published points to outlives the transport.
std::unique_ptr<Transport> secure_transport(std::unique_ptr<Transport> under, const SealingState& sending,
                                            const OpeningState& receiving);

inline constexpr const char* kStreamCut = "the connection was cut";

}  // namespace ferry::secure
