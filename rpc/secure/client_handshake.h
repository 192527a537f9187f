// The client's part of the handshake.
#pragma once

#include <chrono>
#include <memory>

#include "rpc/secure/cipher.h"
#include "rpc/secure/key.h"
#include "rpc/transport/transport.h"

namespace ferry::secure {

// Sends the preamble and the handshake's first message over a fresh connection, checks the answer, and returns a
// transport through which frames travel encrypted. unauthenticated when the server does not know the key, unsupported
// when it does not encrypt, unavailable or protocol_error when the other end is something else. The server may choose
// one of the ciphers for the records; without any, and where it knows of none, they have the handshake's own.
Result<std::unique_ptr<Transport>> encrypt_connection(std::unique_ptr<Transport> transport, const Key& key,
                                                      std::chrono::milliseconds patience,
                                                      Ciphers ciphers = fast_ciphers());

}  // namespace ferry::secure
