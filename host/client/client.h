// The client's end of a session with a server. Requests are pipelined: they are sent without waiting for the answers of
// earlier ones, and a Pending waits for its own. Answers arrive in the order of the requests, so receiving one means
// receiving all before it.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/throw_status.h"
#include "rpc/messages.h"
#include "rpc/wire/connection.h"

namespace ferry::session {

// The answer to one request.
struct Answer {
  std::uint64_t request = 0;
  bool arrived = false;
  Status status;
  std::uint64_t failed_request = 0;  // the failed request that this one depended on, if the status is `aborted`
  std::vector<std::uint8_t> body;
  MutableByteSpan payload;  // destination of the answer's payload
};

class Client;

template <class Reply>
class Pending {
 public:
  Pending() = default;
  Pending(Client* client, std::shared_ptr<Answer> answer) : client_(client), answer_(std::move(answer)) {}
  // Waits for the answer. Throws Error.
  Reply get();
  // Waits without taking the answer, which is left for get(). Throws when the connection is lost.
  void wait();
  bool valid() const { return client_ != nullptr; }
  const std::shared_ptr<Answer>& answer() const { return answer_; }

 private:
  Client* client_ = nullptr;
  std::shared_ptr<Answer> answer_;
};

// Handlers of the events that a server sends unasked.
struct EventHandlers {
  std::function<void(const rpc::WaitingEvent&)> waiting;
  std::function<void(const rpc::ProgressEvent&)> progress;
  std::function<void(const rpc::LogEvent&)> log;
  // Returns the source line, "mm.tc:3", for an offset in a module; empty if it is unknown.
  std::function<std::string(const Hash& module, std::uint64_t offset)> locate;
  // Called when the server has ended the session. Returns why it did, if somebody else knows better, such as that the
  // lease has ended; otherwise an empty text. May wait a little.
  std::function<std::string()> explain_end;
};

// Returns how this client names itself in the logs of others, "ferry 0.1.0 user@laptop".
std::string client_name();

// The options of a session.
struct SessionOptions {
  std::vector<std::string> devices;
  rpc::TimeLimits limits;
  bool wait_for_debugger = false;
  bool guard_memory = false;
  std::chrono::milliseconds queue_timeout{0};                   // 0: wait as long as it takes
  std::chrono::milliseconds timeout = std::chrono::seconds(5);  // for any message from the server
  // A server that owes an answer and says nothing for longer than its own limit of a call hangs. It is given up after
  // this time, or a tenth more than that limit if that is longer.
  std::chrono::milliseconds longest_silence = std::chrono::minutes(11);
};

// A transport to a server on which no session is open yet.
struct OpenedTransport {
  OpenedTransport(std::unique_ptr<Transport> over) : transport(std::move(over)) {}
  std::unique_ptr<Transport> transport;
  bool encrypted = false;  // preamble and handshake are done
};

class Client {
 public:
  // Opens a session and waits for the answer. `peer` is the name of the other end in messages. Throws Error with
  // busy when the time to wait for a place is over.
  Client(OpenedTransport link, std::string peer, EventHandlers handlers = {}, SessionOptions session_options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const DeviceFacts& facts() const { return opened_.facts; }
  // Returns the session's process id on its machine, for debuggers.
  std::uint64_t process() const { return opened_.process; }
  const std::string& peer() const { return peer_; }
  // Returns the device on which tensors are allocated: the first one besides the CPU that the session was opened with,
  // otherwise the CPU.
  std::uint32_t memory_device() const;
  // Returns the device that the server takes for a module's device of this kind, before which the module has `earlier`
  // others of the kind: the next one that the session was opened with. Nothing if it has too few.
  std::optional<std::uint32_t> device_of_kind(const std::string& kind, std::size_t earlier) const;
  // Returns that device as the server describes it; null if there is only the CPU.
  const ComputeDevice* compute_device() const;
  // Returns the server's name of the processor that runs the session's kernels.
  std::string processor() const;
  // Returns a handle that no other client of this process has, so that a handle of one session is unknown in every
  // other session instead of naming a different object there.
  static rpc::Handle new_handle();
  std::uint64_t round_trips() const { return round_trips_; }

  // `payload` may be reused when this returns; `answer_payload` must stay valid until the answer arrives.
  template <class Request>
  Pending<typename rpc::MessageOf<Request>::Reply> send(const Request& request, ByteSpan payload = {},
                                                        MutableByteSpan answer_payload = {}) {
    return {this, enqueue(rpc::MessageOf<Request>::kTag, rpc::encode(request), payload, answer_payload)};
  }
  // Sends a request whose answer is not awaited: a failure is reported by the first request that depends on this one.
  template <class Request>
  void post(const Request& request, ByteSpan payload = {}) {
    enqueue(rpc::MessageOf<Request>::kTag, rpc::encode(request), payload, {});
  }
  template <class Request>
  typename rpc::MessageOf<Request>::Reply call(const Request& request) {
    return send(request).get();
  }

  // Waits until the server has completed everything sent so far. Throws the first failure that has not been reported
  // yet.
  void synchronize();

  // Closes the connection, which a thread that waits for an answer notices. May be called from any thread.
  void interrupt() { connection_.transport().close(); }
  // Ends the session: from now on every request fails.
  void close();

  // Returns false once the connection has failed; every further request then fails with the same error.
  bool is_open() const { return broken_.is_ok(); }

  // Returns how many requests have failed in this session.
  std::size_t failures() const { return failures_.size(); }
  // Returns the answer of the request sent last; null if all have been answered.
  std::shared_ptr<const Answer> last_outstanding() const {
    return outstanding_.empty() ? nullptr : outstanding_.back().answer;
  }

  // Waits for up to so long until something can be received. True also if nothing is expected, or nobody can know.
  bool wait_for_input(std::chrono::milliseconds most);
  // Receives the next answer, if one is expected. Throws when the connection is lost.
  void receive_next() {
    if (!outstanding_.empty()) receive_answer();
  }
  // Receives until this answer has arrived.
  void wait_for(const Answer& answer);
  // Throws the root cause of the answer's failure: with `aborted`, the failure of the request it depended on.
  void check_answer(const Answer& answer);

 private:
  // A payload that certainly fits into the socket buffers while the other side does not read.
  static constexpr std::size_t kSmallPayload = 16 << 10;

  struct Failure {
    Status status;
    bool reported = false;
  };
  struct Outstanding {
    std::uint64_t id;
    std::uint16_t tag;
    std::shared_ptr<Answer> answer;
  };

  std::shared_ptr<Answer> enqueue(rpc::Tag tag, const std::vector<std::uint8_t>& body, ByteSpan payload,
                                  MutableByteSpan answer_payload);
  void open_session();
  void guard_memory();
  void make_room_before(std::size_t payload_bytes);
  bool expects_long_answer() const;
  bool is_sent_beside_answers(std::size_t payload_bytes);
  Status send_beside_answers(const rpc::FrameHeader& header, ByteSpan body, ByteSpan payload);
  void receive_answer();
  void take_event(const rpc::Frame& frame);
  void take_crash(const rpc::CrashEvent& crash);
  // Both throw LimitExceeded for a failure that a time limit of the server has caused.
  [[noreturn]] void throw_error(const Status& status) const;
  void throw_failure(const Status& status) const;
  void wait_in_queue(rpc::WaitingEvent place);
  void limit_next_receive();
  std::chrono::milliseconds silence_limit() const;
  std::string explain_end(const std::string& message) const;
  [[noreturn]] void fail(Status status);
  [[noreturn]] void throw_broken() const;

  rpc::Connection connection_;
  std::string peer_;
  EventHandlers handlers_;
  SessionOptions session_options_;
  rpc::OpenReply opened_;
  std::optional<std::chrono::steady_clock::time_point> queue_deadline_;
  std::optional<std::chrono::steady_clock::time_point> answer_deadline_;  // when Open must be answered
  std::string crash_line_;                // source line of the crash, if the kernel that ended the session reported one
  std::optional<rpc::LimitEvent> limit_;  // what ended the session
  rpc::WaitingEvent place_;               // reported last; position 0: not queued
  std::deque<Outstanding> outstanding_;
  std::map<std::uint64_t, Failure> failures_;  // by request: possible causes of later `aborted` ones
  std::uint64_t next_request_ = 1;
  std::uint64_t round_trips_ = 0;      // number of waits for the server with all requests sent
  std::uint64_t sent_since_wait_ = 0;  // requests
  bool asked_to_run_ = false;          // whether the server was asked to run a kernel
  Status broken_;
  bool is_lost_ = false;  // and nobody knows better than that the connection is gone
};

// Asks for the server's status without opening a session.
rpc::StatusReply ask_status(OpenedTransport link, const std::string& peer,
                            std::chrono::milliseconds timeout = std::chrono::seconds(5));

template <class Reply>
void Pending<Reply>::wait() {
  client_->wait_for(*answer_);
}

template <class Reply>
Reply Pending<Reply>::get() {
  wait();
  client_->check_answer(*answer_);
  return value_or_throw(rpc::decode<Reply>(answer_->body, Strings::printable));
}

}  // namespace ferry::session
