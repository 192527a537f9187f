// A peer whose answers the test scripts, running in a separate thread over the loopback transport.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "rpc/transport/loopback.h"
#include "rpc/wire/connection.h"

namespace ferry::test {

struct Request {
  rpc::FrameHeader header;
  std::vector<std::uint8_t> body;
  std::vector<std::uint8_t> payload;

  template <class T>
  T as() const {
    Result<T> decoded = rpc::decode<T>(body);
    if (!decoded.is_ok()) throw std::runtime_error(decoded.status().message());
    return std::move(decoded.value());
  }
};

class ScriptedServer {
 public:
  // The script receives the connection after the preamble; the connection is closed when the script returns.
  explicit ScriptedServer(std::function<void(ScriptedServer&)> script) {
    auto [near, far] = loopback_transport_pair();
    client_end_ = std::move(near);
    connection_ = std::make_unique<rpc::Connection>(std::move(far));
    thread_ = std::thread([this, script = std::move(script)] {
      if (connection_->receive_preamble().is_ok()) script(*this);
      connection_->transport().close();
    });
  }
  ~ScriptedServer() {
    connection_->transport().close();
    thread_.join();
  }

  std::unique_ptr<Transport> client_end() { return std::move(client_end_); }
  rpc::Connection& connection() { return *connection_; }

  // Returns the next request. A request with the id 0 and without a header means that the client is gone.
  Request receive() {
    Request request;
    Result<rpc::Frame> frame = connection_->receive_frame();
    if (!frame.is_ok()) return request;
    request.header = frame.value().header;
    request.body.assign(frame.value().body.begin(), frame.value().body.end());
    request.payload.resize(request.header.payload_bytes);
    if (!connection_->receive_payload(request.payload).is_ok()) request.header.request = 0;
    return request;
  }
  template <class Reply>
  void answer(const Request& request, const Reply& reply, ByteSpan payload = {}) {
    (void)connection_->send_response(request.header, reply, payload);
  }
  void refuse(const Request& request, ErrorCode code, const std::string& message, std::uint64_t failed_request = 0) {
    (void)connection_->send_failure(request.header, {code, message}, failed_request);
  }
  void welcome() {
    rpc::OpenReply reply;
    reply.version = 1;
    reply.facts.arch = "x86_64";
    reply.facts.cpu_name = "a scripted CPU";
    answer(receive(), reply);
  }

 private:
  std::unique_ptr<Transport> client_end_;
  std::unique_ptr<rpc::Connection> connection_;
  std::thread thread_;
};

}  // namespace ferry::test
