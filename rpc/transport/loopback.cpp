#include "rpc/transport/loopback.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <vector>

namespace ferry {
namespace {

constexpr std::size_t kCapacity = std::size_t{256} << 10;

// One direction: a ring buffer between one sender and one receiver.
class ByteQueue {
 public:
  // Returns false once the queue is closed.
  bool push(ByteSpan bytes) {
    std::unique_lock lock(mutex_);
    while (!bytes.empty()) {
      writable_.wait(lock, [&] { return no_more_ || used_ < kCapacity; });
      if (no_more_) return false;
      const std::size_t end = (start_ + used_) % kCapacity;
      const std::size_t count = std::min({bytes.size(), kCapacity - used_, kCapacity - end});
      std::memcpy(ring_.data() + end, bytes.data(), count);
      used_ += count;
      bytes = bytes.subspan(count);
      readable_.notify_one();
    }
    return !no_more_;
  }

  Result<std::size_t> pop(MutableByteSpan into, std::size_t at_least, std::chrono::milliseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    std::unique_lock lock(mutex_);
    std::size_t received = 0;
    while (received < at_least || (received < into.size() && used_ > 0)) {
      const auto ready = [&] { return used_ > 0 || no_more_; };
      if (timeout.count() == 0) {
        readable_.wait(lock, ready);
      } else if (!readable_.wait_until(lock, deadline, ready)) {
        return receive_timed_out(timeout);
      }
      if (used_ == 0) return closed_by_peer(received, at_least);
      const std::size_t count = std::min({into.size() - received, used_, kCapacity - start_});
      std::memcpy(into.data() + received, ring_.data() + start_, count);
      start_ = (start_ + count) % kCapacity;
      used_ -= count;
      received += count;
      writable_.notify_one();
    }
    return received;
  }

  // The bytes in the queue can still be received.
  void end() {
    const std::lock_guard lock(mutex_);
    no_more_ = true;
    readable_.notify_all();
    writable_.notify_all();
  }

  void discard() {
    end();
    const std::lock_guard lock(mutex_);
    used_ = 0;
  }

 private:
  std::mutex mutex_;
  std::condition_variable readable_;
  std::condition_variable writable_;
  std::vector<std::uint8_t> ring_ = std::vector<std::uint8_t>(kCapacity);
  std::size_t start_ = 0;
  std::size_t used_ = 0;
  bool no_more_ = false;
};

class LoopbackTransport final : public Transport {
 public:
  LoopbackTransport(std::shared_ptr<ByteQueue> incoming, std::shared_ptr<ByteQueue> outgoing)
      : incoming_(std::move(incoming)), outgoing_(std::move(outgoing)) {}
  ~LoopbackTransport() override { LoopbackTransport::close(); }
  LoopbackTransport(const LoopbackTransport&) = delete;
  LoopbackTransport& operator=(const LoopbackTransport&) = delete;

  Status send(std::span<const ByteSpan> pieces) override {
    for (const ByteSpan piece : pieces) {
      // A reader that has received everything it wanted may be gone before the last, empty piece.
      if (!piece.empty() && !outgoing_->push(piece))
        return Status(ErrorCode::unavailable, "the connection is gone: closed");
    }
    return Status();
  }
  Result<std::size_t> receive_some(MutableByteSpan into, std::size_t at_least) override {
    return incoming_->pop(into, at_least, timeout_);
  }
  void set_receive_timeout(std::chrono::milliseconds timeout) override { timeout_ = timeout; }
  void close_send() override { outgoing_->end(); }
  void close() override {
    outgoing_->end();
    incoming_->discard();
  }
  int native_handle() const override { return -1; }

 private:
  std::shared_ptr<ByteQueue> incoming_;
  std::shared_ptr<ByteQueue> outgoing_;
  std::chrono::milliseconds timeout_{0};
};

}  // namespace

std::pair<std::unique_ptr<Transport>, std::unique_ptr<Transport>> loopback_transport_pair() {
  auto forth = std::make_shared<ByteQueue>();
  auto back = std::make_shared<ByteQueue>();
  return {std::make_unique<LoopbackTransport>(back, forth), std::make_unique<LoopbackTransport>(forth, back)};
}

}  // namespace ferry
