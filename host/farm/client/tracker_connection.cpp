#include "host/farm/client/tracker_connection.h"

namespace ferry::farm {

namespace {

constexpr std::chrono::seconds kAnswerTimeout{20};

}  // namespace

Result<std::vector<std::uint8_t>> TrackerConnection::ask_this(std::uint16_t tag,
                                                              const std::vector<std::uint8_t>& query) {
  const std::uint64_t request = ++last_request_;
  FERRY_TRY(link_->send_frame({rpc::FrameKind::request, tag, ErrorCode::ok, request}, query));
  const auto until = TrackerLink::Clock::now() + kAnswerTimeout;
  while (true) {
    FERRY_ASSIGN(const std::optional<rpc::Frame> frame, link_->receive(until));
    if (!frame) return receive_timed_out(kAnswerTimeout);
    if (frame->header.kind == rpc::FrameKind::event) continue;
    if (frame->header.kind != rpc::FrameKind::response || frame->header.request != request) {
      return Status(ErrorCode::protocol_error, "expected the answer to request " + std::to_string(request) +
                                                   ", got request " + std::to_string(frame->header.request));
    }
    FERRY_TRY(rpc::failure_of(*frame));
    return std::vector<std::uint8_t>(frame->body.begin(), frame->body.end());
  }
}

Result<std::vector<std::uint8_t>> TrackerConnection::ask(std::uint16_t tag, const std::vector<std::uint8_t>& query) {
  // The connection may have ended since the last question, which is no failure of its tracker.
  std::size_t attempts = farm_.trackers.size() + (link_ != nullptr ? 1 : 0);
  std::string reasons;
  while (true) {
    Status status;
    if (link_ == nullptr) {
      auto opened = TrackerLink::open(farm_, farm_.trackers[next_], kConnectTimeout);
      if (opened.is_ok()) {
        link_ = std::move(opened.value());
        holder_ = link_->holder();
      }
      status = opened.status();
    }
    if (status.is_ok()) {
      auto answer = ask_this(tag, query);
      if (answer.is_ok()) return answer;
      status = answer.status();
      if (status.code() == ErrorCode::unavailable || status.code() == ErrorCode::protocol_error ||
          status.code() == ErrorCode::deadline_exceeded)
        link_ = nullptr;
    }
    if (status.code() != ErrorCode::unavailable) return status;
    reasons += (reasons.empty() ? "" : "; ") + status.message();
    if (--attempts == 0) return Status(ErrorCode::unavailable, reasons);
    next_ = (next_ + 1) % farm_.trackers.size();
  }
}

}  // namespace ferry::farm
