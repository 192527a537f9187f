// A transport that calls a function before each receive, which waits until there is something to receive.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "rpc/transport/transport.h"

namespace ferry::farm {

class WaitingTransport final : public Transport {
 public:
  using Wait = std::function<Status()>;

  explicit WaitingTransport(std::unique_ptr<Transport> under) : under_(std::move(under)) {}

  // Without it, receives block for as long as the receive timeout allows. A failure is that of the receive.
  void before_receiving(Wait wait) { wait_ = std::move(wait); }

  Status send(std::span<const ByteSpan> pieces) override { return under_->send(pieces); }
  Result<std::size_t> receive_some(MutableByteSpan into, std::size_t at_least) override {
    if (!wait_) return under_->receive_some(into, at_least);
    std::size_t received = 0;
    do {
      FERRY_TRY(wait_());
      const std::size_t next = std::min<std::size_t>(at_least - received, 1);
      const Result<std::size_t> count = under_->receive_some(into.subspan(received), next);
      if (!count.is_ok() && count.status().message() == kPeerClosed) return closed_by_peer(received, at_least);
      FERRY_TRY(count.status());
      received += count.value();
    } while (received < at_least);
    return received;
  }
  void set_receive_timeout(std::chrono::milliseconds timeout) override { under_->set_receive_timeout(timeout); }
  void close_send() override { under_->close_send(); }
  void close() override { under_->close(); }
  int native_handle() const override { return under_->native_handle(); }
  bool has_buffered_input() const override { return under_->has_buffered_input(); }

 private:
  std::unique_ptr<Transport> under_;
  Wait wait_;
};

}  // namespace ferry::farm
