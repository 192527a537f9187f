// A transport that encrypts the bytes it sends over another transport, after the handshake. Large pieces are encrypted
// directly from their source into the send buffer, and decrypted from the receive buffer directly into their
// destination, by two threads if a receive takes 1 MiB or more.
//
// In addition to the errors of every transport, it fails with protocol_error if the received bytes are not those that
// the peer sent, in the same order. Everything received before that can still be answered.
#pragma once

#include <memory>

#include "rpc/secure/record.h"
#include "rpc/transport/transport.h"

namespace ferry::secure {

// The peer's end of stream is valid only if a record announced it; a stream that just stops was cut by the network or
// by an attacker. The object that sending.published points to must outlive the transport.
std::unique_ptr<Transport> secure_transport(std::unique_ptr<Transport> under, const SealingState& sending,
                                            const OpeningState& receiving);

inline constexpr const char* kStreamCut = "the connection was cut";

}  // namespace ferry::secure
