#include "rpc/server/frame_channel.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "rpc/secure/secret.h"

namespace ferry::server {
namespace {

constexpr std::size_t kPiece = 4096;
// After so many pieces others get their turn.
constexpr int kPiecesAtOnce = 16;

void wipe(std::span<std::uint8_t> bytes) { secure::wipe(bytes.data(), bytes.size()); }

// Removes the first bytes, and gives the memory back where none are left: most connections are silent.
void drop_front(std::vector<std::uint8_t>& bytes, std::size_t count) {
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
  if (bytes.empty()) bytes = {};
}

}  // namespace

std::shared_ptr<FrameChannel> FrameChannel::start(EventLoop& loop, Descriptor socket, SecretMemory::Pointer secure,
                                                  const Limits& limits, Owner& owner) {
  auto channel = std::make_shared<FrameChannel>(loop, std::move(socket), std::move(secure), limits, owner);
  channel->socket_.when_readable([channel] { channel->read(); });
  return channel;
}

FrameChannel::FrameChannel(EventLoop& loop, Descriptor socket, SecretMemory::Pointer secure, const Limits& limits,
                           Owner& owner)
    : socket_(loop, socket.release()), secure_(std::move(secure)), limits_(limits), owner_(&owner) {
  // Otherwise a frame waits for the acknowledgement of the one before, for up to 40 ms. Fails on local sockets.
  const int on = 1;
  (void)::setsockopt(socket_.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void FrameChannel::send(std::span<const std::uint8_t> frame) {
  if (!is_open()) return;
  if (out_.size() - sent_ + frame.size() > limits_.queued)
    return end({ErrorCode::resource_exhausted, "the other end reads too slowly"});
  const auto records = secure::wiping_stack([&] { return secure::seal_all(secure_->sending, frame, false); });
  if (!records.is_ok()) return end(records.status());
  out_.insert(out_.end(), records.value().begin(), records.value().end());
  if (!is_writing_) write();
}

void FrameChannel::write() {
  is_writing_ = false;
  while (sent_ < out_.size()) {
    const ssize_t count =
        ::send(socket_.number(), out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      // A slow reader takes little at a time: moving all the rest each time would keep the loop busy.
      if (sent_ >= out_.size() - sent_) drop_front(out_, std::exchange(sent_, 0));
      is_writing_ = true;
      return socket_.when_writable([self = shared_from_this()] { self->write(); });
    }
    if (count < 0) return end({ErrorCode::unavailable, "the connection is gone"});
    sent_ += static_cast<std::size_t>(count);
  }
  drop_front(out_, std::exchange(sent_, 0));
}

void FrameChannel::read() {
  std::uint8_t piece[kPiece];
  for (int pieces = 0; pieces < kPiecesAtOnce; ++pieces) {
    const ssize_t count = ::recv(socket_.number(), piece, sizeof piece, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count <= 0) return end({ErrorCode::unavailable, "the other end has closed the connection"});
    heard_at_ = std::chrono::steady_clock::now();
    sealed_.insert(sealed_.end(), piece, piece + count);
    if (!take_records()) return;
  }
  socket_.when_readable([self = shared_from_this()] { self->read(); });
}

bool FrameChannel::take_records() {
  std::size_t taken = 0;
  while (sealed_.size() - taken >= secure::kLengthBytes) {
    const auto length = secure::sealed_length(sealed_.data() + taken);
    if (!length.is_ok()) return end(length.status()), false;
    if (sealed_.size() - taken < secure::kLengthBytes + length.value()) break;
    const std::span<std::uint8_t> record(sealed_.data() + taken + secure::kLengthBytes, length.value());
    const Status opened = secure::wiping_stack([&] { return secure::open(secure_->receiving, record, record.data()); });
    if (!opened.is_ok()) return end(opened), false;
    const auto text = record.first(record.size() - secure::kTagBytes);
    if (text.empty()) return end({ErrorCode::unavailable, "the other end has closed the connection"}), false;
    plain_.insert(plain_.end(), text.begin(), text.end());
    wipe(text);
    taken += secure::kLengthBytes + record.size();
    if (!take_frames()) return false;
  }
  drop_front(sealed_, taken);
  return true;
}

bool FrameChannel::take_frames() {
  while (plain_.size() >= rpc::kFrameHeaderBytes) {
    const auto header = rpc::decode_frame_header(
        std::span<const std::uint8_t, rpc::kFrameHeaderBytes>(plain_.data(), rpc::kFrameHeaderBytes));
    if (!header.is_ok()) return end(header.status()), false;
    if (header.value().payload_bytes != 0 || header.value().body_bytes > limits_.body)
      return end({ErrorCode::protocol_error, "expected a frame without payload and with a short body"}), false;
    const std::size_t bytes = rpc::kFrameHeaderBytes + header.value().body_bytes;
    if (plain_.size() < bytes) break;
    // A callback may close the channel, but this object lives on until read() returns.
    owner_->on_frame(header.value(),
                     std::span<const std::uint8_t>(plain_).subspan(rpc::kFrameHeaderBytes, header.value().body_bytes));
    wipe(std::span(plain_).first(std::min(bytes, plain_.size())));
    if (!is_open()) return false;
    drop_front(plain_, bytes);
  }
  return true;
}

void FrameChannel::end(const Status& why) {
  if (!is_open()) return;
  const auto self = shared_from_this();  // on_end may drop the last reference
  socket_.close();
  secure_.reset();
  if (Owner* const owner = std::exchange(owner_, nullptr)) owner->on_end(why);
}

void FrameChannel::close() {
  owner_ = nullptr;
  end({});
}

}  // namespace ferry::server
