#include "farm/client/farm_client.h"

namespace ferry::farm {

namespace {

constexpr std::chrono::seconds kAnswerTimeout{20};
// Fewer than a tracker lets wait.
constexpr std::size_t kPipelined = 12;

}  // namespace

Status FarmClient::open_connection() {
  if (connection_ != nullptr) return {};
  FERRY_ASSIGN(connection_, TrackerConnection::open(farm_, farm_.trackers[next_], kConnectTimeout));
  holder_ = connection_->holder();
  return {};
}

Status FarmClient::send_query(std::uint16_t tag, std::uint64_t request, const std::vector<std::uint8_t>& query) {
  return connection_->send_frame({rpc::FrameKind::request, tag, ErrorCode::ok, request}, query);
}

Result<rpc::Frame> FarmClient::receive_answer(std::uint64_t request) {
  const auto until = TrackerConnection::Clock::now() + kAnswerTimeout;
  while (true) {
    FERRY_ASSIGN(std::optional<rpc::Frame> frame, connection_->receive(until));
    if (!frame) return receive_timed_out(kAnswerTimeout);
    if (frame->header.kind == rpc::FrameKind::event) continue;
    if (frame->header.kind != rpc::FrameKind::response || frame->header.request != request) {
      return Status(ErrorCode::protocol_error, "expected the answer to request " + std::to_string(request) +
                                                   ", got request " + std::to_string(frame->header.request));
    }
    FERRY_TRY(rpc::failure_of(*frame));
    return std::move(*frame);
  }
}

Result<std::vector<std::uint8_t>> FarmClient::ask(std::uint16_t tag, const std::vector<std::uint8_t>& query) {
  // The connection may have ended since the last question, which is no failure of its tracker.
  std::size_t attempts = farm_.trackers.size() + (connection_ != nullptr ? 1 : 0);
  std::string reasons;
  while (true) {
    Status status = open_connection();
    if (status.is_ok()) {
      const std::uint64_t request = ++last_request_;
      status = send_query(tag, request, query);
      if (status.is_ok()) {
        const auto answer = receive_answer(request);
        if (answer.is_ok()) return std::vector<std::uint8_t>(answer.value().body.begin(), answer.value().body.end());
        status = answer.status();
      }
      if (status.code() == ErrorCode::unavailable || status.code() == ErrorCode::protocol_error ||
          status.code() == ErrorCode::deadline_exceeded)
        connection_ = nullptr;
    }
    if (status.code() != ErrorCode::unavailable) return status;
    reasons += (reasons.empty() ? "" : "; ") + status.message();
    if (--attempts == 0) return Status(ErrorCode::unavailable, reasons);
    next_ = (next_ + 1) % farm_.trackers.size();
  }
}

Status FarmClient::ask_pipelined(std::uint16_t tag, std::size_t count, const QueryOf& query_of, const Take& take,
                                 std::size_t& answered) {
  const std::uint64_t first = last_request_ + 1;
  last_request_ += count;
  for (std::size_t sent = 0; answered < count; ++answered) {
    for (; sent < count && sent < answered + kPipelined; ++sent)
      FERRY_TRY(send_query(tag, first + sent, query_of(sent)));
    FERRY_ASSIGN(const rpc::Frame answer, receive_answer(first + answered));
    FERRY_TRY(take(answered, answer.body));
  }
  return {};
}

Status FarmClient::ask_each(std::uint16_t tag, std::size_t count, const QueryOf& query_of, const Take& take) {
  std::size_t attempts = farm_.trackers.size() + (connection_ != nullptr ? 1 : 0);
  while (true) {
    Status status = open_connection();
    std::size_t answered = 0;
    if (status.is_ok()) {
      try {
        status = ask_pipelined(tag, count, query_of, take, answered);
      } catch (...) {
        connection_ = nullptr;
        throw;
      }
    }
    if (status.is_ok()) return {};
    // Answers to what was sent ahead may still come.
    connection_ = nullptr;
    if (answered > 0 || status.code() != ErrorCode::unavailable || --attempts == 0) return status;
    next_ = (next_ + 1) % farm_.trackers.size();
  }
}

}  // namespace ferry::farm
