// A client that speaks frames and nothing else, so that tests can also say what no proper client would.
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
  std::uint64_t failed_request = 0;  // with `aborted`
  Reply reply{};
  Bytes payload;
};

// What was sent over a transport already.
enum class Opening { none, encrypted };

class TestClient {
 public:
  // Connects and says hello.
  explicit TestClient(std::uint16_t port);
  // Over a transport that somebody else connected; says hello as well.
  explicit TestClient(std::unique_ptr<Transport> transport, Opening opening = Opening::none);

  // One that was opened by hand: requests up to this id were made.
  TestClient(std::unique_ptr<rpc::Connection> connection, std::uint64_t last_id)
      : connection_(std::move(connection)), last_id_(last_id) {}

  // Says open instead, and waits until it is served.
  TestClient(std::uint16_t port, const rpc::Open& open);
  TestClient(std::unique_ptr<Transport> transport, const rpc::Open& open, Opening opening = Opening::none);

  const DeviceFacts& facts() const { return facts_; }
  // Of the answer to open.
  const rpc::OpenReply& opened() const { return opened_; }
  rpc::Connection& connection() { return *connection_; }

  // Sends without waiting; returns the request's id.
  template <class Request>
  std::uint64_t send(const Request& request, ByteSpan payload = {}) {
    const Status sent = connection_->send_request(++last_id_, request, payload);
    CHECK_MESSAGE(sent.is_ok(), sent.message());
    return last_id_;
  }

  // The next answer, which must be the one to request `id`. A connection that ended is `unavailable`.
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
  // The answer must be good.
  template <class Request>
  Answer<typename rpc::MessageOf<Request>::Reply> must(const Request& request, ByteSpan payload = {}) {
    auto answer = ask(request, payload);
    REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
    return answer;
  }

  // The next response; log events before it are collected.
  Result<rpc::Frame> next_response();
  const std::string& logged() const { return logged_; }

  // A handle that was not used yet.
  rpc::Handle new_handle() { return ++last_handle_; }
  // Makes a buffer that holds these elements.
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
  void say_hello();

  std::unique_ptr<rpc::Connection> connection_;
  DeviceFacts facts_;
  rpc::OpenReply opened_;
  std::string logged_;
  std::uint64_t last_id_ = 0;
  rpc::Handle last_handle_ = 0;
};

// A client that has sent its open and is not served yet.
std::unique_ptr<rpc::Connection> join_queue(std::uint16_t port, const rpc::Open& open);

// A TCP connection to a server of this machine, with nothing sent yet and receives that give up after 20 s.
std::unique_ptr<Transport> connect_to(std::uint16_t port);

// Arguments of calls.
rpc::Argument tensor(rpc::Handle buffer, std::vector<std::int64_t> shape, DType dtype = DType::f32,
                     std::uint64_t offset = 0);
rpc::Argument scalar(float value);
rpc::Argument scalar(std::int64_t value);

}  // namespace ferry::test
