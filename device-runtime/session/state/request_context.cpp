#include "device-runtime/session/state/request_context.h"

#include "base/format.h"
#include "device-runtime/measure/clock.h"

namespace ferry::device {
namespace {

constexpr std::size_t kMaxLogBytes = 64 << 10;

}  // namespace

RequestContext::RequestContext(rpc::Connection& connection, const rpc::FrameHeader& header, Activity& activity)
    : connection_(connection), header_(header), activity_(activity) {
  activity_.tag.store(header.tag);
  activity_.started_ns.store(now_ns());
  activity_.request.store(header.request);
}

Status RequestContext::receive_payload(MutableByteSpan into) {
  Status status = connection_.receive_payload(into);
  if (!status.is_ok()) session_ends_ = true;
  return status;
}

Status RequestContext::aborted(std::uint64_t cause, std::string message) {
  failed_request_ = cause;
  return {ErrorCode::aborted, std::move(message)};
}

void RequestContext::log(std::string text) {
  if (text.empty()) return;
  if (text.size() > kMaxLogBytes) text.resize(kMaxLogBytes);
  activity_.sending.store(true);
  if (!connection_.send_event(rpc::EventTag::log, rpc::LogEvent{header_.request, std::move(text)}).is_ok()) {
    session_ends_ = true;
  }
  activity_.sending.store(false);
}

void RequestContext::report_crash(const std::string& function, const std::string& cause) {
  rpc::CrashEvent event;
  event.request = header_.request;
  event.function = function;
  event.signal = cause;
  activity_.sending.store(true);
  // If sending fails, the client is gone and does not need the answer either.
  (void)connection_.send_event(rpc::EventTag::crash, event);
  activity_.sending.store(false);
  session_ends_ = true;
}

void RequestContext::send(std::vector<std::uint8_t> body, const Status* failure) {
  Status too_long;
  if (failure == nullptr && body.size() > rpc::kMaxBodyBytes) {
    too_long = Status(ErrorCode::resource_exhausted,
                      format("the answer would have %zu bytes, expected at most %u: ask for less at a time",
                             body.size(), rpc::kMaxBodyBytes));
    failure = &too_long;
  }
  // Everything that the client still sends for a refused write must be read before the client reads the answer.
  if (!session_ends_ && !connection_.drain_payload().is_ok()) session_ends_ = true;
  activity_.sending.store(true);
  const rpc::FrameHeader header{rpc::FrameKind::response, header_.tag, ErrorCode::ok, header_.request};
  Status sent;
  if (failure != nullptr) {
    sent = connection_.send_failure(header_, *failure, failure->code() == ErrorCode::aborted ? failed_request_ : 0);
  } else if (reply_pieces_) {
    sent = connection_.send_frame(header, body, {}, reply_pieces_bytes_);
    if (sent.is_ok()) sent = reply_pieces_([this](ByteSpan piece) { return connection_.send_payload_piece(piece); });
  } else {
    sent = connection_.send_frame(header, body, reply_payload_);
  }
  if (!sent.is_ok()) session_ends_ = true;
  activity_.request.store(0);
  activity_.sending.store(false);
}

}  // namespace ferry::device
