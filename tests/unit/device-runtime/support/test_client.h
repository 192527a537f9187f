// A client that only sends and receives frames, so that tests can also send what no correct client would.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "rpc/messages.h"
#include "rpc/transport/transport.h"
#include "rpc/wire/connection.h"

namespace ferry::test {

using Bytes = std::vector<std::uint8_t>;

template <class Reply>
struct Answer {
  Status status;
  std::uint64_t failed_request = 0;  // if the code is `aborted`
  Reply reply{};
  Bytes payload;
};

// The messages already sent over a transport.
enum class Opening { none, encrypted };

class TestClient {
 public:
  // Connects and sends open.
  explicit TestClient(std::uint16_t port);
  // Uses a transport that is already connected; sends open as well.
  explicit TestClient(std::unique_ptr<Transport> transport, Opening opening = Opening::none);

  // Uses a connection that the test opened itself, with this reply, and on which requests up to this id were made.
  TestClient(std::unique_ptr<rpc::Connection> connection, std::uint64_t last_id, const rpc::OpenReply& opened = {})
      : connection_(std::move(connection)), facts_(opened.facts), opened_(opened), last_id_(last_id) {}

  // Sends this request, and waits until the client is served.
  TestClient(std::uint16_t port, const rpc::Open& open);
  TestClient(std::unique_ptr<Transport> transport, const rpc::Open& open, Opening opening = Opening::none);

  const DeviceFacts& facts() const { return facts_; }
  // The reply to open.
  const rpc::OpenReply& opened() const { return opened_; }
  rpc::Connection& connection() { return *connection_; }

  // Sends a request without waiting; returns its id.
  template <class Request>
  std::uint64_t send(const Request& request, ByteSpan payload = {}) {
    const Status sent = connection_->send_request(++last_id_, request, payload);
    CHECK_MESSAGE(sent.is_ok(), sent.message());
    return last_id_;
  }

  // Returns the next answer, which must be the one to request `id`. If the connection ended, its status is
  // `unavailable`.
  template <class Request>
  Answer<typename rpc::MessageOf<Request>::Reply> receive(std::uint64_t id) {
    Answer<typename rpc::MessageOf<Request>::Reply> answer;
    const Result<rpc::Frame> frame = next_response();
    if (!frame.is_ok()) {
      answer.status = frame.status();
      return answer;
    }
    CHECK(frame.value().header.request == id);
    answer.status = rpc::failure_of(frame.value(), &answer.failed_request);
    if (!answer.status.is_ok()) return answer;
    CHECK(frame.value().header.tag == static_cast<std::uint16_t>(rpc::MessageOf<Request>::kTag));
    auto reply = rpc::decode<typename rpc::MessageOf<Request>::Reply>(frame.value().body);
    REQUIRE_MESSAGE(reply.is_ok(), reply.status().message());
    answer.reply = std::move(reply.value());
    answer.payload.resize(connection_->payload_left());
    const Status received = connection_->receive_payload(answer.payload);
    REQUIRE_MESSAGE(received.is_ok(), received.message());
    return answer;
  }

  template <class Request>
  Answer<typename rpc::MessageOf<Request>::Reply> ask(const Request& request, ByteSpan payload = {}) {
    return receive<Request>(send(request, payload));
  }
  // Sends a request whose answer must be successful.
  template <class Request>
  Answer<typename rpc::MessageOf<Request>::Reply> must(const Request& request, ByteSpan payload = {}) {
    auto answer = ask(request, payload);
    REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
    return answer;
  }

  // Returns the next response and collects log events before it.
  Result<rpc::Frame> next_response();
  const std::string& logged() const { return logged_; }

  // Returns an unused handle.
  rpc::Handle new_handle() { return ++last_handle_; }
  // Creates a buffer that holds these elements.
  template <class T>
  rpc::Handle upload(const std::vector<T>& elements) {
    const rpc::Handle buffer = new_handle();
    must(rpc::Alloc{buffer, elements.size() * sizeof(T), 0});
    must(rpc::Write{buffer, 0}, {reinterpret_cast<const std::uint8_t*>(elements.data()), elements.size() * sizeof(T)});
    return buffer;
  }
  template <class T>
  std::vector<T> download(rpc::Handle buffer, std::size_t count) {
    const Bytes bytes = must(rpc::Read{buffer, 0, count * sizeof(T)}).payload;
    std::vector<T> elements(count);
    if (count != 0) std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }

 private:
  std::unique_ptr<rpc::Connection> connection_;
  DeviceFacts facts_;
  rpc::OpenReply opened_;
  std::string logged_;
  std::uint64_t last_id_ = 0;
  rpc::Handle last_handle_ = 0;
};

// Returns the request of a client with this name for a session.
rpc::Open open_as(const std::string& client);

// Connects a client that has sent open and is not yet served.
std::unique_ptr<rpc::Connection> join_queue(std::uint16_t port, const rpc::Open& open);

// Opens a TCP connection to a server on this machine, with nothing sent yet; receives time out after 20 s.
std::unique_ptr<Transport> connect_to(std::uint16_t port);

// Builders for the arguments of calls.
rpc::Argument tensor(rpc::Handle buffer, std::vector<std::int64_t> shape, DType dtype = DType::f32,
                     std::uint64_t offset = 0);
rpc::Argument scalar(float value);
rpc::Argument scalar(std::int64_t value);

}  // namespace ferry::test
