#include <poll.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>

#include "host/client/client.h"

namespace ferry::session {

namespace {

// With more unanswered requests the server might block on sending answers while the client blocks on sending requests.
// Linux counts 768 bytes for a short answer between processes of one machine, and lets 208 KiB wait by default.
constexpr std::size_t kMaxOutstanding = 128;
// Up to this size a thread of its own sends a payload while answers are received: what it costs is less than to wait
// for them.
constexpr std::size_t kSentBesideAnswers = 1 << 20;

constexpr auto has_long_answer = [](const auto& outstanding) {
  return rpc::has_property(outstanding.tag, rpc::kLongAnswer);
};

}  // namespace

std::shared_ptr<Answer> Client::enqueue(rpc::Tag tag, const std::vector<std::uint8_t>& body, ByteSpan payload,
                                        MutableByteSpan answer_payload) {
  if (!broken_.is_ok()) throw_broken();
  const bool is_beside = is_sent_beside_answers(payload.size());
  make_room_before(is_beside ? 0 : payload.size());
  auto answer = std::make_shared<Answer>();
  answer->payload = answer_payload;
  const std::uint64_t id = next_request_++;
  answer->request = id;
  rpc::FrameHeader header;
  header.tag = static_cast<std::uint16_t>(tag);
  header.request = id;
  outstanding_.push_back({id, header.tag, answer});
  asked_to_run_ = asked_to_run_ || rpc::has_property(header.tag, rpc::kRunsKernel);
  const Status sent =
      is_beside ? send_beside_answers(header, body, payload) : connection_.send_frame(header, body, payload);
  if (!sent.is_ok()) {
    if (sent.code() == ErrorCode::internal) {  // rejected before anything was sent
      outstanding_.pop_back();
      throw_failure(sent);
    }
    // The server may have sent the reason for closing the connection: read the remaining answers before giving up.
    while (!outstanding_.empty()) receive_answer();
    fail(sent);
  }
  ++sent_since_wait_;
  return answer;
}

void Client::make_room_before(std::size_t payload_bytes) {
  while (outstanding_.size() >= kMaxOutstanding) receive_answer();
  if (payload_bytes <= kSmallPayload) return;
  const auto last_long_answer = std::find_if(outstanding_.rbegin(), outstanding_.rend(), has_long_answer);
  for (auto left = std::distance(last_long_answer, outstanding_.rend()); left > 0; --left) receive_answer();
}

// Whether answers that may fill the connection's buffers are on their way.
bool Client::expects_long_answer() const { return std::ranges::any_of(outstanding_, has_long_answer); }

bool Client::is_sent_beside_answers(std::size_t payload_bytes) {
  return payload_bytes > kSmallPayload && payload_bytes <= kSentBesideAnswers && expects_long_answer() &&
         connection_.transport().native_handle() >= 0;
}

// The server may not take the payload before this client takes an answer. The request is the last of outstanding_.
Status Client::send_beside_answers(const rpc::FrameHeader& header, ByteSpan body, ByteSpan payload) {
  std::atomic<bool> is_over = false;
  Status sent;
  std::jthread sender([&] {
    sent = connection_.send_frame(header, body, payload);
    is_over = true;
  });
  while (!is_over && outstanding_.size() > 1)
    if (wait_for_input(std::chrono::milliseconds(1)) && !is_over) receive_answer();
  sender.join();
  return sent;
}

bool Client::wait_for_input(std::chrono::milliseconds most) {
  const int socket = connection_.transport().native_handle();
  if (outstanding_.empty() || !is_open() || socket < 0 || connection_.has_buffered_input()) return true;
  pollfd entry{socket, POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(most.count())) > 0;
}

}  // namespace ferry::session
