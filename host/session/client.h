// One conversation with a server. Requests are sent without waiting for the answers of earlier ones; a Pending waits
// for its own. Answers come in the order of the requests, so receiving one means receiving all before it.
//
// For one thread at a time.
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

#include "host/session/remote_error.h"
#include "rpc/messages.h"
#include "rpc/wire/connection.h"

namespace ferry::session {

// What came back for one request.
struct Answer {
  std::uint64_t request = 0;
  bool arrived = false;
  Status status;
  std::uint64_t failed_request = 0;  // with `aborted`
  std::vector<std::uint8_t> body;
  MutableByteSpan payload;  // where the answer's payload goes
};

class Client;

template <class Reply>
class Pending {
 public:
  Pending() = default;
  Pending(Client* client, std::shared_ptr<Answer> answer) : client_(client), answer_(std::move(answer)) {}
  // Waits. Throws RemoteError.
  Reply get();
  // Only waits; what came is for get(). Throws when the connection is lost.
  void wait();
  bool valid() const { return client_ != nullptr; }

 private:
  Client* client_ = nullptr;
  std::shared_ptr<Answer> answer_;
};

// What a server tells without being asked.
struct EventHandlers {
  std::function<void(const rpc::WaitingEvent&)> waiting;
  std::function<void(const rpc::ProgressEvent&)> progress;
  std::function<void(const rpc::LogEvent&)> log;
  // The line of the source, "mm.tc:3", for a place in a module; empty when nobody knows.
  std::function<std::string(const Hash& module, std::uint64_t offset)> locate;
};

// How to be served.
struct Wishes {
  std::vector<std::string> devices;
  rpc::TimeLimits limits;
  bool wait_for_debugger = false;
  bool guard_memory = false;
  std::chrono::milliseconds queue_patience{0};                   // 0: wait as long as it takes
  std::chrono::milliseconds patience = std::chrono::seconds(5);  // for any word of the server's
};

// A way to a server that nothing of a session has gone over yet.
struct Link {
  Link(std::unique_ptr<Transport> over) : transport(std::move(over)) {}
  std::unique_ptr<Transport> transport;
  bool encrypted = false;  // preamble and handshake are behind us
};

class Client {
 public:
  // Opens a session and waits for the answer. `peer` is what messages call the other end. busy when the time to wait
  // for a place is over.
  Client(Link link, std::string peer, EventHandlers handlers = {}, Wishes wishes = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const DeviceFacts& facts() const { return opened_.facts; }
  // Those that the server keeps.
  const rpc::TimeLimits& limits() const { return opened_.limits; }
  // Of the session on its machine, for debuggers.
  std::uint64_t process() const { return opened_.process; }
  const std::string& peer() const { return peer_; }
  // That tensors are kept on: the first one beside the CPU that the session was opened with, else the CPU.
  std::uint32_t memory_device() const;
  // That device, as the server tells of it; null: none but the CPU.
  const ComputeDevice* compute_device() const;
  // What runs the kernels of such a session, in the server's words.
  std::string processor() const;
  // One that no other client of this process has: what belongs to one session is unknown to every other one, and never
  // taken for something of its own.
  static rpc::Handle new_handle();
  std::uint64_t round_trips() const { return round_trips_; }

  // `payload` may be reused when this returns; `answer_payload` must stay until the answer is there.
  template <class Request>
  Pending<typename rpc::MessageOf<Request>::Reply> send(const Request& request, ByteSpan payload = {},
                                                        MutableByteSpan answer_payload = {}) {
    return {this, enqueue(rpc::MessageOf<Request>::kTag, rpc::encode(request), payload, answer_payload)};
  }
  // Without anybody to wait for it: a failure is reported by the first request that depends on this one.
  template <class Request>
  void post(const Request& request, ByteSpan payload = {}) {
    enqueue(rpc::MessageOf<Request>::kTag, rpc::encode(request), payload, {});
  }
  template <class Request>
  typename rpc::MessageOf<Request>::Reply call(const Request& request) {
    return send(request).get();
  }

  // Waits until the server has done everything sent so far. Throws the first failure that nobody has been told of.
  void synchronize();

  // False once the connection has failed; then every further request fails with the same error.
  bool is_open() const { return broken_.is_ok(); }

  // Receives until this answer is there.
  void wait_for(const Answer& answer);
  // Throws what the answer's failure comes down to: with `aborted`, the failure of the request it depended on.
  void check_answer(const Answer& answer);

 private:
  struct Failure {
    Status status;
    bool told = false;
  };
  struct Outstanding {
    std::uint64_t id;
    rpc::Tag tag;
    std::shared_ptr<Answer> answer;
  };

  std::shared_ptr<Answer> enqueue(rpc::Tag tag, const std::vector<std::uint8_t>& body, ByteSpan payload,
                                  MutableByteSpan answer_payload);
  void open_session();
  void guard_memory();
  void make_room_before(std::size_t payload_bytes);
  void receive_answer();
  void take_event(const rpc::Frame& frame);
  void take_crash(const rpc::CrashEvent& crash);
  void wait_in_queue(rpc::WaitingEvent place);
  void limit_next_receive();
  [[noreturn]] void fail(Status status);

  rpc::Connection connection_;
  std::string peer_;
  EventHandlers handlers_;
  Wishes wishes_;
  rpc::OpenReply opened_;
  std::optional<std::chrono::steady_clock::time_point> queue_deadline_;
  std::optional<std::chrono::steady_clock::time_point> answer_deadline_;  // to open, for whatever else comes
  std::string crash_line_;   // of the source, when the kernel that ends the session has told it
  rpc::WaitingEvent place_;  // told last; position 0: not queued
  std::deque<Outstanding> outstanding_;
  std::map<std::uint64_t, Failure> failures_;  // by request: what later ones may be aborted for
  std::uint64_t next_request_ = 1;
  std::uint64_t round_trips_ = 0;      // times the server was waited for with everything sent
  std::uint64_t sent_since_wait_ = 0;  // requests
  bool asked_to_run_ = false;          // a kernel
  Status broken_;
};

// Asks, instead of opening a session, what the server is doing.
rpc::StatusReply ask_status(Link link, const std::string& peer,
                            std::chrono::milliseconds patience = std::chrono::seconds(5));

template <class Reply>
void Pending<Reply>::wait() {
  client_->wait_for(*answer_);
}

template <class Reply>
Reply Pending<Reply>::get() {
  wait();
  client_->check_answer(*answer_);
  return take(rpc::decode<Reply>(answer_->body, Strings::printable));
}

}  // namespace ferry::session
