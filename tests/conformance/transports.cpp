#include "tests/conformance/transports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "rpc/secure/client_handshake.h"
#include "rpc/secure/secure_transport.h"
#include "rpc/transport/loopback.h"
#include "rpc/transport/socket.h"
#include "rpc/transport/tcp.h"
#include "rpc/wire/frame.h"

namespace ferry {
namespace {

std::unique_ptr<Transport> expect(Result<std::unique_ptr<Transport>> transport) {
  if (!transport.is_ok()) throw std::runtime_error(transport.status().message());
  return std::move(transport.value());
}

TransportPair connect_over_tcp() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 || ::listen(listener, 1) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("cannot listen on 127.0.0.1");
  }
  auto client = expect(connect_tcp("127.0.0.1", ntohs(address.sin_port)));
  auto server = expect(wrap_socket(::accept(listener, nullptr, nullptr)));
  ::close(listener);
  return {std::move(client), std::move(server)};
}

TransportPair connect_socket_pair() {
  auto pair = socket_transport_pair();
  if (!pair.is_ok()) throw std::runtime_error(pair.status().message());
  return std::move(pair.value());
}

// The server side of the handshake as a blocking call; rpc_server's own non-blocking handshake has separate tests.
TransportPair encrypted(TransportPair pair, secure::Ciphers ciphers = secure::kNoOther) {
  const secure::Key key = secure::make_key();
  std::unique_ptr<Transport> server;
  Background accept([&] {
    std::array<std::uint8_t, rpc::kPreambleBytes + secure::kLengthBytes + secure::kHandshakeBytes> opening;
    if (!pair.second->receive(opening).is_ok()) return;
    const ByteSpan bytes(opening);
    secure::NoiseHandshake handshake(secure::Role::responder, bytes.first(rpc::kPreambleBytes), key.bytes);
    if (!handshake.read_message(bytes.last(secure::kHandshakeBytes)).is_ok()) return;
    const secure::Cipher cipher = secure::choose_cipher(secure::fast_ciphers(), bytes[32]);
    const auto number = static_cast<std::uint8_t>(cipher);
    const auto answer = handshake.write_message(ByteSpan(&number, cipher == secure::Cipher::chacha_poly ? 0 : 1));
    const std::array<std::uint8_t, 2> length{static_cast<std::uint8_t>(answer.value().size()), 0};
    const std::array<ByteSpan, 2> pieces{length, answer.value()};
    if (!pair.second->send(pieces).is_ok()) return;
    const secure::TransportKeys keys = handshake.split();
    server = secure::secure_transport(std::move(pair.second), {keys.to_initiator, 0, nullptr, cipher},
                                      {keys.to_responder, 0, cipher});
  });
  auto client = expect(secure::encrypt_connection(std::move(pair.first), key, std::chrono::seconds(20), ciphers));
  accept.join();
  if (!server) throw std::runtime_error("the server's part of the handshake failed");
  return {std::move(client), std::move(server)};
}

TransportPair connect_encrypted_tcp() { return encrypted(connect_over_tcp()); }
// Uses the other cipher if this machine supports it.
TransportPair connect_fast_encrypted_tcp() { return encrypted(connect_over_tcp(), secure::fast_ciphers()); }
TransportPair connect_encrypted_loopback() { return encrypted(loopback_transport_pair()); }

}  // namespace

const TransportKind kAllTransports[kTransportKinds] = {{"tcp", connect_over_tcp},
                                                       {"socket pair", connect_socket_pair},
                                                       {"loopback", loopback_transport_pair},
                                                       {"encrypted tcp", connect_encrypted_tcp},
                                                       {"encrypted tcp, AES", connect_fast_encrypted_tcp},
                                                       {"encrypted loopback", connect_encrypted_loopback}};

}  // namespace ferry
