#include "host/client/client.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/quantity_text.h"
#include "module/device_id.h"

namespace ferry::session {

namespace {

constexpr const char* kClientName = "ferry " FERRY_VERSION;

// Servers older than the event `limit` name the limit of a call in their message alone.
constexpr std::string_view kLimitOfCall = ": the limit of a call is ";

// A GPU driver may take long to load, on a machine that has many GPUs or is busy.
constexpr std::chrono::milliseconds kDriverLoadTimeout = std::chrono::seconds(60);

// Returns the first of the devices that is not the CPU: tensors are allocated there. A name that is no device is left
// to the server to refuse.
std::optional<DeviceId> first_beside_cpu(const std::vector<std::string>& devices) {
  for (const std::string& name : devices) {
    const Result<DeviceId> id = parse_device_id(name);
    if (id.is_ok() && id.value().kind != DeviceKind::cpu) return id.value();
  }
  return std::nullopt;
}

bool ends_the_session(ErrorCode code) {
  return code == ErrorCode::kernel_crashed || code == ErrorCode::deadline_exceeded ||
         code == ErrorCode::unauthenticated;
}

}  // namespace

std::string client_name() {
  char machine[256] = "";
  if (gethostname(machine, sizeof machine - 1) != 0) machine[0] = 0;
  const char* user = getenv("USER");
  return std::string(kClientName) + " " + (user != nullptr ? user : "someone") + "@" + machine;
}

Client::Client(OpenedTransport link, std::string peer, EventHandlers handlers, SessionOptions session_options)
    : connection_(std::move(link.transport)),
      peer_(std::move(peer)),
      handlers_(std::move(handlers)),
      session_options_(std::move(session_options)) {
  if (!link.encrypted) connection_.put_preamble_before_first_frame(rpc::Preamble{});
  open_session();
}

rpc::StatusReply ask_status(OpenedTransport link, const std::string& peer, std::chrono::milliseconds timeout) {
  rpc::Connection connection(std::move(link.transport));
  if (!link.encrypted) connection.put_preamble_before_first_frame(rpc::Preamble{});
  connection.transport().set_receive_timeout(timeout);
  throw_failure(connection.send_request(1, rpc::GetStatus{}));
  const Result<rpc::Frame> answer = connection.receive_frame();
  if (!answer.is_ok()) throw Error(ErrorCode::unavailable, peer + ": " + answer.status().message());
  throw_failure(rpc::failure_of(answer.value()));
  return value_or_throw(rpc::decode<rpc::StatusReply>(answer.value().body, Strings::printable));
}

Client::~Client() { connection_.transport().close(); }

const ComputeDevice* Client::compute_device() const {
  const std::optional<DeviceId> id = first_beside_cpu(session_options_.devices);
  if (!id) return nullptr;
  std::uint32_t index = 0;
  for (const ComputeDevice& device : facts().devices) {
    if (device.kind == device_kind_name(id->kind) && index++ == id->index) return &device;
  }
  return nullptr;
}

std::string Client::processor() const {
  const ComputeDevice* device = compute_device();
  return device == nullptr ? facts().cpu_name : device->name;
}

rpc::Handle Client::new_handle() {
  static std::atomic<rpc::Handle> last{0};
  return ++last;
}

std::uint32_t Client::memory_device() const { return first_beside_cpu(session_options_.devices) ? 1 : 0; }

std::optional<std::uint32_t> Client::device_of_kind(const std::string& kind, std::size_t earlier) const {
  if (kind == device_kind_name(DeviceKind::cpu)) return earlier == 0 ? std::optional(0U) : std::nullopt;
  std::uint32_t index = 0;
  for (const std::string& name : session_options_.devices) {
    const Result<DeviceId> id = parse_device_id(name);
    if (!id.is_ok() || id.value().kind == DeviceKind::cpu) continue;
    ++index;
    if (kind == device_kind_name(id.value().kind) && earlier-- == 0) return index;
  }
  return std::nullopt;
}

void Client::open_session() {
  rpc::Open open;
  open.client = client_name();
  open.devices = session_options_.devices;
  open.limits = session_options_.limits;
  open.wait_for_debugger = session_options_.wait_for_debugger;
  const bool opens_gpu = memory_device() != 0;
  const auto timeout = opens_gpu ? std::max(session_options_.timeout, kDriverLoadTimeout) : session_options_.timeout;
  answer_deadline_ = std::chrono::steady_clock::now() + timeout;
  connection_.transport().set_receive_timeout(timeout);
  auto pending = send(open);
  try {
    opened_ = pending.get();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::deadline_exceeded || broken_.is_ok()) throw;
    if (place_.position != 0) {
      throw Error(ErrorCode::busy, "gave up waiting for " + peer_ + " at place " + std::to_string(place_.position) +
                                       "; it is held by " + place_.holder);
    }
    throw Error(ErrorCode::unavailable,
                peer_ + " does not answer: something listens there, but it is no ferry rpc_server");
  }
  answer_deadline_.reset();
  queue_deadline_.reset();
  if (session_options_.guard_memory) guard_memory();
  connection_.transport().set_receive_timeout(silence_limit());
}

// The server ends calls at its limit; without one a call may take any time, as it may where a debugger stops it.
std::chrono::milliseconds Client::silence_limit() const {
  using std::chrono::milliseconds;
  constexpr std::uint64_t kLongest = milliseconds(std::chrono::hours(24 * 365)).count();
  const std::uint64_t limit_ms = std::min(opened_.limits.call_ms, kLongest);
  if (limit_ms == 0 || session_options_.wait_for_debugger) return milliseconds(0);
  return std::max(milliseconds(limit_ms + limit_ms / 10), session_options_.longest_silence);
}

void Client::guard_memory() {
  connection_.transport().set_receive_timeout(session_options_.timeout);
  try {
    call(rpc::GuardMemory{});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    if (handlers_.log) {
      handlers_.log(
          {0, "this server is older than guarded tensors: a kernel that leaves its tensors may not be noticed"});
    }
  }
}

void Client::wait_for(const Answer& answer) {
  if (!answer.arrived && sent_since_wait_ > 0) {
    ++round_trips_;
    sent_since_wait_ = 0;
  }
  while (!answer.arrived) receive_answer();
}

void Client::receive_answer() {
  Result<rpc::Frame> received = connection_.receive_frame();
  while (received.is_ok() && received.value().header.kind == rpc::FrameKind::event) {
    take_event(received.value());
    limit_next_receive();
    received = connection_.receive_frame();
  }
  if (!received.is_ok()) {
    const bool is_silent = opened_.version != 0 && received.status().code() == ErrorCode::deadline_exceeded;
    if (!is_silent) fail(received.status());
    fail({ErrorCode::unavailable, "it has said nothing for " +
                                      span_text(static_cast<std::uint64_t>(silence_limit().count())) +
                                      ", though it ends each call after " + span_text(opened_.limits.call_ms)});
  }
  const rpc::Frame& frame = received.value();
  // An error of the connection instead of a request; nothing follows it.
  if (frame.header.request == 0 && frame.header.error != ErrorCode::ok) fail(rpc::failure_of(frame));
  const Outstanding& expected = outstanding_.front();
  if (frame.header.kind != rpc::FrameKind::response || frame.header.request != expected.id) {
    fail({ErrorCode::protocol_error, "expected the answer to request " + std::to_string(expected.id) +
                                         ", got request " + std::to_string(frame.header.request)});
  }
  Answer& answer = *expected.answer;
  if (frame.header.error != ErrorCode::ok) {
    answer.status = rpc::failure_of(frame, &answer.failed_request);
    if (!crash_line_.empty() && ends_the_session(answer.status.code())) {
      answer.status = Status(answer.status.code(), answer.status.message() + " (" + crash_line_ + ")");
    }
    if (answer.status.code() == ErrorCode::deadline_exceeded) {
      if (const std::string why = explain_end(answer.status.message()); !why.empty()) {
        answer.status = Status(ErrorCode::unavailable, why);
        broken_ = answer.status;
      }
    }
    if (ends_the_session(answer.status.code())) broken_ = answer.status;
    const auto cause = failures_.find(answer.failed_request);
    failures_.insert({expected.id, cause == failures_.end() ? Failure{answer.status} : cause->second});
  } else {
    answer.body.assign(frame.body.begin(), frame.body.end());
    if (frame.header.payload_bytes != answer.payload.size()) {
      fail({ErrorCode::protocol_error, std::string(rpc::tag_name(frame.header.tag)) + ": expected " +
                                           std::to_string(answer.payload.size()) + " bytes, got " +
                                           std::to_string(frame.header.payload_bytes)});
    }
    if (!answer.payload.empty()) {
      // A large tensor may take any time on a slow connection.
      const bool is_large = answer.payload.size() > kSmallPayload;
      if (is_large) connection_.transport().set_receive_timeout(std::chrono::milliseconds(0));
      if (const Status status = connection_.receive_payload(answer.payload); !status.is_ok()) fail(status);
      if (is_large) connection_.transport().set_receive_timeout(silence_limit());
    }
  }
  answer.arrived = true;
  outstanding_.pop_front();
}

void Client::take_event(const rpc::Frame& frame) {
  // A newer server may send events that this client does not know; they are ignored.
  switch (static_cast<rpc::EventTag>(frame.header.tag)) {
    case rpc::EventTag::waiting:
      wait_in_queue(value_or_throw(rpc::decode<rpc::WaitingEvent>(frame.body, Strings::printable)));
      break;
    case rpc::EventTag::crash:
      take_crash(value_or_throw(rpc::decode<rpc::CrashEvent>(frame.body, Strings::printable)));
      break;
    case rpc::EventTag::limit: limit_ = value_or_throw(rpc::decode<rpc::LimitEvent>(frame.body)); break;
    case rpc::EventTag::progress:
      if (handlers_.progress) handlers_.progress(value_or_throw(rpc::decode<rpc::ProgressEvent>(frame.body)));
      break;
    case rpc::EventTag::log:
      if (handlers_.log) handlers_.log(value_or_throw(rpc::decode<rpc::LogEvent>(frame.body, Strings::printable)));
      break;
  }
}

void Client::take_crash(const rpc::CrashEvent& crash) {
  if (handlers_.log && !crash.printed.empty()) handlers_.log({crash.request, crash.printed});
  if (handlers_.locate && crash.module != Hash{}) crash_line_ = handlers_.locate(crash.module, crash.offset);
}

void Client::wait_in_queue(rpc::WaitingEvent place) {
  place_ = std::move(place);
  // Queueing for a board may take hours; the server notices on its own when a client is gone.
  answer_deadline_.reset();
  if (session_options_.queue_timeout.count() > 0 && !queue_deadline_) {
    queue_deadline_ = std::chrono::steady_clock::now() + session_options_.queue_timeout;
  }
  if (handlers_.waiting) handlers_.waiting(place_);
}

// Bounds the time until the answer, since events may arrive at any rate.
void Client::limit_next_receive() {
  using std::chrono::milliseconds;
  if (opened_.version != 0) return;
  const auto& deadline = answer_deadline_ ? answer_deadline_ : queue_deadline_;
  milliseconds left{0};
  if (deadline) {
    left = std::chrono::ceil<milliseconds>(*deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      fail(receive_timed_out(answer_deadline_ ? session_options_.timeout : session_options_.queue_timeout));
  }
  connection_.transport().set_receive_timeout(left);
}

void Client::check_answer(const Answer& answer) {
  if (answer.status.is_ok()) return;
  if (const auto own = failures_.find(answer.request); own != failures_.end()) own->second.reported = true;
  if (answer.status.code() == ErrorCode::aborted) {
    if (const auto cause = failures_.find(answer.failed_request); cause != failures_.end()) {
      cause->second.reported = true;
      throw_failure(cause->second.status);
    }
  }
  throw_failure(answer.status);
}

void Client::synchronize() {
  call(rpc::Ping{});
  for (auto& [request, failure] : failures_) {
    if (failure.reported || failure.status.code() == ErrorCode::aborted) continue;
    failure.reported = true;
    throw_failure(failure.status);
  }
}

// Returns an empty text if nobody knows better.
std::string Client::explain_end(const std::string& message) const {
  const std::string why = handlers_.explain_end ? handlers_.explain_end() : "";
  return why.empty() ? why : why + " (" + message + ")";
}

void Client::fail(Status status) {
  std::string why;
  if (broken_.is_ok()) {
    broken_ = status.code() == ErrorCode::unavailable
                  ? Status(ErrorCode::unavailable, "the connection to " + peer_ + " is gone: " + status.message())
                  : Status(status.code(), peer_ + ": " + status.message());
    why = explain_end(broken_.message());
    if (!why.empty()) broken_ = Status(ErrorCode::unavailable, why);
  }
  connection_.transport().close();
  for (const Outstanding& outstanding : outstanding_) {
    outstanding.answer->status = broken_;
    outstanding.answer->arrived = true;
  }
  outstanding_.clear();
  is_lost_ = broken_.code() == ErrorCode::unavailable && opened_.version != 0 && why.empty();
  throw_broken();
}

void Client::throw_broken() const {
  if (is_lost_) throw ConnectionLost(broken_.message(), !asked_to_run_);
  throw_error(broken_);
}

void Client::throw_error(const Status& status) const {
  if (status.code() == ErrorCode::deadline_exceeded) {
    if (limit_) {
      const auto limit_ms = static_cast<double>(std::max<std::uint64_t>(limit_->limit_ms, 1));
      throw LimitExceeded(status.message(), limit_->limit,
                          std::min(static_cast<double>(limit_->running_ms) / limit_ms, 1.0));
    }
    if (status.message().find(kLimitOfCall) != std::string::npos)
      throw LimitExceeded(status.message(), TimeLimit::call, 1);
  }
  throw Error(status.code(), status.message());
}

void Client::throw_failure(const Status& status) const {
  if (!status.is_ok()) throw_error(status);
}

}  // namespace ferry::session
