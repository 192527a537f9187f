#include "rpc/secure/client_handshake.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "rpc/secure/secure_transport.h"
#include "rpc/wire/codec.h"
#include "rpc/wire/frame.h"

namespace ferry::secure {
namespace {

constexpr std::size_t kMaxRefusalBytes = 4096;

// Reads the refusal that a server sends in plaintext instead of continuing the handshake. Anyone on the network path
// could have forged it, so about the key it reveals only that it was not accepted.
Status refusal(Transport& transport, ByteSpan start) {
  std::array<std::uint8_t, rpc::kFrameHeaderBytes> head{};
  std::copy(start.begin(), start.end(), head.begin());
  FERRY_TRY(transport.receive(MutableByteSpan(head).subspan(start.size())));
  FERRY_ASSIGN(const rpc::FrameHeader header, rpc::decode_frame_header(head));
  if (header.kind != rpc::FrameKind::response || header.error == ErrorCode::ok ||
      header.body_bytes > kMaxRefusalBytes) {
    return {ErrorCode::protocol_error, "expected an encrypted answer, got one in the clear"};
  }
  std::vector<std::uint8_t> body(header.body_bytes);
  FERRY_TRY(transport.receive(body));
  FERRY_ASSIGN(const rpc::Failure failure, rpc::decode<rpc::Failure>(body, Strings::printable));
  return {header.error, failure.message};
}

// Unlike a refusal, the payload is authentic: only a holder of the key can have produced it.
Result<Cipher> chosen_cipher(ByteSpan payload, Ciphers ciphers) {
  if (payload.empty()) return Cipher::chacha_poly;
  if (payload[0] == static_cast<std::uint8_t>(Cipher::aes_gcm) && (ciphers >> payload[0] & 1) != 0) {
    return Cipher::aes_gcm;
  }
  return Status(ErrorCode::protocol_error,
                "expected a cipher that was offered, got number " + std::to_string(payload[0]));
}

}  // namespace

Result<std::unique_ptr<Transport>> encrypt_connection(std::unique_ptr<Transport> transport, const Key& key,
                                                      std::chrono::milliseconds timeout, Ciphers ciphers) {
  rpc::Preamble preamble;
  preamble.mode = rpc::PreambleMode::encrypted;
  preamble.key_id = key.id();
  preamble.ciphers = ciphers;
  const auto prologue = rpc::encode_preamble(preamble);
  NoiseHandshake handshake(Role::initiator, prologue, key.bytes);
  FERRY_ASSIGN(const std::vector<std::uint8_t> first, handshake.write_message());
  const std::array<std::uint8_t, kLengthBytes> length{kHandshakeBytes, 0};
  const std::array<ByteSpan, 3> pieces{prologue, length, first};
  FERRY_TRY(transport->send(pieces));

  transport->set_receive_timeout(timeout);
  std::array<std::uint8_t, kLengthBytes> answer_length{};
  FERRY_TRY(transport->receive(answer_length));
  const std::size_t payload_bytes = answer_length[0] - kHandshakeBytes;
  if (answer_length[1] != 0 || payload_bytes > 1) return refusal(*transport, answer_length);
  std::vector<std::uint8_t> answer(kHandshakeBytes + payload_bytes);
  FERRY_TRY(transport->receive(answer));
  const auto payload = handshake.read_message(answer);
  if (!payload.is_ok()) {
    return Status(ErrorCode::unauthenticated,
                  "the server does not hold our key, or somebody in between changed a byte");
  }
  FERRY_ASSIGN(const Cipher cipher, chosen_cipher(payload.value(), ciphers));
  transport->set_receive_timeout(std::chrono::milliseconds(0));
  const TransportKeys keys = handshake.split();
  return secure_transport(std::move(transport), {keys.to_responder, 0, nullptr, cipher},
                          {keys.to_initiator, 0, cipher});
}

}  // namespace ferry::secure
