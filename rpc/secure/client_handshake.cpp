#include "rpc/secure/client_handshake.h"

#include <algorithm>
#include <array>
#include <vector>

#include "rpc/secure/secure_transport.h"
#include "rpc/wire/codec.h"
#include "rpc/wire/frame.h"

namespace ferry::secure {
namespace {

constexpr std::size_t kMaxRefusalBytes = 4096;

// What a server says in the clear instead of going on. Anybody on the way could have said it, so of a key it says no
// more than that it did not fit.
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

}  // namespace

Result<std::unique_ptr<Transport>> encrypt_connection(std::unique_ptr<Transport> transport, const Key& key,
                                                      std::chrono::milliseconds patience) {
  rpc::Preamble preamble;
  preamble.mode = rpc::PreambleMode::encrypted;
  preamble.key_id = key.id();
  const auto prologue = rpc::encode_preamble(preamble);
  NoiseHandshake handshake(Role::initiator, prologue, key.bytes);
  FERRY_ASSIGN(const std::vector<std::uint8_t> first, handshake.write_message());
  const std::array<std::uint8_t, kLengthBytes> length{kHandshakeBytes, 0};
  const std::array<ByteSpan, 3> pieces{prologue, length, first};
  FERRY_TRY(transport->send(pieces));

  transport->set_receive_timeout(patience);
  std::array<std::uint8_t, kLengthBytes> answer_length{};
  FERRY_TRY(transport->receive(answer_length));
  if (answer_length != length) return refusal(*transport, answer_length);
  std::array<std::uint8_t, kHandshakeBytes> answer{};
  FERRY_TRY(transport->receive(answer));
  const auto payload = handshake.read_message(answer);
  if (!payload.is_ok()) {
    return Status(ErrorCode::unauthenticated,
                  "the server does not hold our key, or somebody in between changed a byte");
  }
  if (!payload.value().empty()) return Status(ErrorCode::protocol_error, "expected an empty handshake message");
  transport->set_receive_timeout(std::chrono::milliseconds(0));
  const TransportKeys keys = handshake.split();
  return secure_transport(std::move(transport), {keys.to_responder}, {keys.to_initiator});
}

}  // namespace ferry::secure
