// The client's part of the handshake.
#pragma once

#include <chrono>
#include <memory>

#include "rpc/secure/cipher.h"
#include "rpc/secure/key.h"
#include "rpc/transport/transport.h"

namespace ferry::secure {

// Sends the preamble and the handshake's first message over a fresh connection, checks the answer, and returns a
// transport that encrypts frames. Errors are unauthenticated if the server does not know the key, unsupported if it
// does not encrypt, and unavailable or protocol_error if the peer is not a ferry server. The server may choose one of
// the ciphers for the records. With no ciphers given, or if the server supports none of them, the records use the
// handshake's cipher.
Result<std::unique_ptr<Transport>> encrypt_connection(std::unique_ptr<Transport> transport, const Key& key,
                                                      std::chrono::milliseconds timeout,
                                                      Ciphers ciphers = fast_ciphers());

}  // namespace ferry::secure
