#include "rpc/wire/connection.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ferry::rpc {
namespace {

constexpr std::size_t kDrainPieceBytes = std::size_t{64} << 10;

// The transport reports the end relative to one receive; only at the start of a frame is an end without bytes regular.
Status inside_frame(Status status) {
  if (status.is_ok() || status.message() != kPeerClosed) return status;
  return Status(status.code(), "the peer closed the connection inside a frame");
}

std::vector<std::uint8_t> failure_body(const Status& failure, std::uint64_t failed_request) {
  Failure body{failure.message(), failed_request};
  // A message that quotes its input may be as long as the input.
  if (body.message.size() > kMaxBodyBytes / 2) body.message.resize(kMaxBodyBytes / 2);
  return encode(body);
}

}  // namespace

void Connection::put_preamble_before_first_frame(const Preamble& preamble) {
  const auto bytes = encode_preamble(preamble);
  preamble_.assign(bytes.begin(), bytes.end());
}

// Ensures that at least at_least bytes, at most the size of a header or preamble, lie contiguously in ahead_.
Status Connection::receive_ahead(std::size_t at_least) {
  if (ahead() >= at_least) return Status();
  std::copy(ahead_.begin() + ahead_begin_, ahead_.begin() + ahead_end_, ahead_.begin());
  ahead_end_ = ahead();
  ahead_begin_ = 0;
  const bool at_start = ahead_end_ == 0;
  const Result<std::size_t> count =
      transport_->receive_some(MutableByteSpan(ahead_).subspan(ahead_end_), at_least - ahead_end_);
  if (!count.is_ok()) return at_start ? count.status() : inside_frame(count.status());
  ahead_end_ += count.value();
  return Status();
}

Status Connection::take(MutableByteSpan into) {
  const std::size_t count = std::min(into.size(), ahead());
  std::copy_n(ahead_.begin() + ahead_begin_, count, into.begin());
  ahead_begin_ += count;
  return count == into.size() ? Status() : inside_frame(transport_->receive(into.subspan(count)));
}

Result<Preamble> Connection::receive_preamble() {
  FERRY_TRY(receive_ahead(kPreambleBytes));
  std::array<std::uint8_t, kPreambleBytes> bytes{};
  FERRY_TRY(take(bytes));
  return decode_preamble(bytes);
}

Status Connection::send_payload_piece(ByteSpan piece) {
  const std::array<ByteSpan, 1> pieces{piece};
  return transport_->send(pieces);
}

Status Connection::send_frame(FrameHeader header, ByteSpan body, ByteSpan payload, std::uint64_t payload_bytes_after) {
  if (body.size() > kMaxBodyBytes) {
    return Status(ErrorCode::internal, "a message body of " + std::to_string(body.size()) +
                                           " bytes is over the limit of " + std::to_string(kMaxBodyBytes));
  }
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  header.payload_bytes = payload.size() + payload_bytes_after;
  const auto head = encode_frame_header(header);
  const std::array<ByteSpan, 4> pieces{preamble_, head, body, payload};
  FERRY_TRY(transport_->send(pieces));
  preamble_.clear();
  return Status();
}

Status Connection::send_failure(const FrameHeader& request, const Status& failure, std::uint64_t failed_request) {
  return send_frame({FrameKind::response, request.tag, failure.code(), request.request},
                    failure_body(failure, failed_request));
}

Result<Frame> Connection::receive_frame() {
  FERRY_TRY(drain_payload());
  FERRY_TRY(receive_ahead(kFrameHeaderBytes));
  std::array<std::uint8_t, kFrameHeaderBytes> bytes{};
  FERRY_TRY(take(bytes));
  FERRY_ASSIGN(const FrameHeader header, decode_frame_header(bytes));
  body_.resize(header.body_bytes);
  FERRY_TRY(take(body_));
  payload_left_ = header.payload_bytes;
  return Frame{header, body_};
}

Status Connection::receive_payload(MutableByteSpan into) {
  if (into.size() > payload_left_) {
    return Status(ErrorCode::internal, "expected to receive at most the " + std::to_string(payload_left_) +
                                           " bytes left of a payload, got " + std::to_string(into.size()));
  }
  payload_left_ -= into.size();
  return take(into);
}

Status Connection::drain_payload() {
  if (payload_left_ == 0) return Status();
  const std::uint64_t most = kDrainPieceBytes;
  std::vector<std::uint8_t> piece(static_cast<std::size_t>(std::min(payload_left_, most)));
  while (payload_left_ > 0) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(payload_left_, piece.size()));
    FERRY_TRY(receive_payload(MutableByteSpan(piece).first(count)));
  }
  return Status();
}

std::vector<std::uint8_t> whole_frame(FrameHeader header, ByteSpan body) {
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  const auto head = encode_frame_header(header);
  std::vector<std::uint8_t> bytes(head.size() + body.size());
  std::copy(head.begin(), head.end(), bytes.begin());
  std::copy(body.begin(), body.end(), bytes.begin() + head.size());
  return bytes;
}

std::vector<std::uint8_t> failure_frame(std::uint16_t tag, std::uint64_t request, const Status& failure,
                                        std::uint64_t failed_request) {
  return whole_frame({FrameKind::response, tag, failure.code(), request}, failure_body(failure, failed_request));
}

Status failure_of(const Frame& response, std::uint64_t* failed_request) {
  if (response.header.error == ErrorCode::ok) return Status();
  Result<Failure> failure = decode<Failure>(response.body, Strings::printable);
  if (!failure.is_ok()) return failure.status();
  if (failed_request != nullptr) *failed_request = failure.value().failed_request;
  // Indents further lines, so that they do not look like output of the program that shows the message.
  std::string message;
  for (const char letter : failure.value().message) {
    message += letter;
    if (letter == '\n') message += "  ";
  }
  return Status(response.header.error, std::move(message));
}

}  // namespace ferry::rpc
