#include "rpc/transport/watched_transport.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "rpc/transport/keepalive.h"

namespace ferry {
namespace {

constexpr std::chrono::seconds kInterval{2};

class WatchedTransport final : public Transport {
 public:
  explicit WatchedTransport(std::unique_ptr<Transport> under) : under_(std::move(under)) {
    enable_keepalive(under_->native_handle());
    watcher_ = std::thread([this] { watch(); });
  }
  WatchedTransport(const WatchedTransport&) = delete;
  WatchedTransport& operator=(const WatchedTransport&) = delete;
  ~WatchedTransport() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_one();
    watcher_.join();
  }

  Status send(std::span<const ByteSpan> pieces) override {
    Status status = under_->send(pieces);
    return status.is_ok() ? status : reason(std::move(status));
  }
  Result<std::size_t> receive_some(MutableByteSpan into, std::size_t at_least) override {
    Result<std::size_t> received = under_->receive_some(into, at_least);
    if (received.is_ok()) return received;
    return reason(received.status());
  }
  void set_receive_timeout(std::chrono::milliseconds timeout) override { under_->set_receive_timeout(timeout); }
  void close_send() override { under_->close_send(); }
  void close() override { under_->close(); }
  bool has_buffered_input() const override { return under_->has_buffered_input(); }
  int native_handle() const override { return under_->native_handle(); }

 private:
  // Runs in a thread of its own, since the thread that uses the connection is blocked in a system call.
  void watch() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kInterval, [this] { return ends_; })) {
      if (!is_silent(under_->native_handle())) continue;
      silent_ = true;
      under_->close();
      return;
    }
  }

  Status reason(Status status) const {
    if (!silent_) return status;
    return {ErrorCode::unavailable, "no sign of life for " + std::to_string(kSilentMs / 1000) + " s"};
  }

  std::unique_ptr<Transport> under_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::atomic<bool> silent_{false};
  std::thread watcher_;
};

}  // namespace

std::unique_ptr<Transport> watched_transport(std::unique_ptr<Transport> tcp) {
  return std::make_unique<WatchedTransport>(std::move(tcp));
}

}  // namespace ferry
