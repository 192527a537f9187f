#include "rpc/secure/secure_transport.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>

#include "rpc/secure/parallel_records.h"

namespace ferry::secure {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Pieces of at least this size get records of their own, which saves copying them.
constexpr std::size_t kLargePiece = 4096;
// Encrypted data is sent once this much is buffered, so the peer decrypts it while we encrypt the next part. Sends are
// larger, and fewer, far from the end of a piece; in a small piece they would make the peer wait.
constexpr std::size_t kSent = 2 * (kMaxRecordPlain + kRecordOverhead);
constexpr std::size_t kOutCapacity = 4 * kSent;
constexpr std::size_t kFarFromEnd = std::size_t{4} << 20;
// Number of records that are received with one system call and opened together.
constexpr std::size_t kTogether = 16;
constexpr std::size_t kInCapacity = kTogether * (kMaxRecordPlain + kRecordOverhead);
static_assert(kInCapacity >= kLengthBytes + kMaxMessageBytes, "the longest record fits");
// Receives of at least this size start a second thread.
constexpr std::size_t kLargeReceive = std::size_t{1} << 20;

using Buffer = std::unique_ptr<std::uint8_t[]>;
// Left uninitialised: the system never allocates pages that a short session does not touch.
Buffer make_buffer(std::size_t bytes) { return std::make_unique_for_overwrite<std::uint8_t[]>(bytes); }

class SecureTransport final : public Transport {
 public:
  SecureTransport(std::unique_ptr<Transport> under, const SealingState& sending, const OpeningState& receiving)
      : under_(std::move(under)), sending_(sending), receiving_(receiving) {}

  Status send(std::span<const ByteSpan> pieces) override {
    for (ByteSpan piece : pieces) {
      if (piece.size() >= kLargePiece) FERRY_TRY(seal_staged());
      while (!piece.empty()) {
        std::size_t count = std::min(piece.size(), kMaxRecordPlain);
        if (staged_ == 0 && piece.size() >= kLargePiece) {
          FERRY_TRY(seal_piece(piece.first(count), piece.size() >= kFarFromEnd ? kOutCapacity : kSent));
        } else {
          count = std::min(count, stage_.size() - staged_);
          std::copy_n(piece.begin(), count, stage_.begin() + static_cast<std::ptrdiff_t>(staged_));
          staged_ += count;
          if (staged_ == stage_.size()) FERRY_TRY(seal_staged());
        }
        piece = piece.subspan(count);
      }
    }
    FERRY_TRY(seal_staged());
    return flush();
  }

  Result<std::size_t> receive_some(MutableByteSpan into, std::size_t at_least) override {
    const Clock::time_point deadline = timeout_.count() > 0 ? Clock::now() + timeout_ : Clock::time_point();
    std::size_t received = take_opened(into);
    std::optional<ParallelRecords> parallel;
    if (at_least >= kLargeReceive && has_second_core()) parallel.emplace();
    while (received < into.size()) {
      if (parallel && !open_together(*parallel, into, received)) parallel.reset();
      if (received == into.size()) break;
      FERRY_ASSIGN(const bool opened, open_next(into, received));
      if (opened) continue;
      if (received >= at_least) break;
      if (ended_) return closed_by_peer(received, at_least);
      FERRY_TRY(fill(deadline, received, at_least));
    }
    return received;
  }

  void set_receive_timeout(milliseconds timeout) override {
    timeout_ = timeout;
    under_->set_receive_timeout(timeout);
  }

  void close_send() override {
    if (seal_piece({}).is_ok()) (void)flush();
    under_->close_send();
  }
  void close() override { under_->close(); }
  int native_handle() const override { return under_->native_handle(); }
  bool has_buffered_input() const override { return opened_begin_ != opened_end_ || in_end_ - in_begin_ != 0; }

 private:
  Status seal_staged() {
    if (staged_ == 0) return {};
    const ByteSpan plain(stage_.data(), std::exchange(staged_, 0));
    return seal_piece(plain);
  }

  // Flushes first if the record would exceed the limit.
  Status seal_piece(ByteSpan plain, std::size_t limit = kSent) {
    if (!out_) out_ = make_buffer(kOutCapacity);
    const std::size_t sealed = plain.size() + kRecordOverhead;
    if (out_used_ + sealed > limit) FERRY_TRY(flush());
    FERRY_TRY(seal(sending_, plain, out_.get() + out_used_));
    out_used_ += sealed;
    return {};
  }

  Status flush() {
    if (out_used_ == 0) return {};
    const std::array<ByteSpan, 1> pieces{ByteSpan(out_.get(), std::exchange(out_used_, 0))};
    return under_->send(pieces);
  }

  // Takes bytes of a record that was opened and did not fit into the destination.
  std::size_t take_opened(MutableByteSpan into) {
    const std::size_t count = std::min(into.size(), opened_end_ - opened_begin_);
    if (count != 0) std::memcpy(into.data(), opened_.get() + opened_begin_, count);
    opened_begin_ += count;
    return count;
  }

  // Opens the next record if it has arrived completely.
  Result<bool> open_next(MutableByteSpan into, std::size_t& received) {
    FERRY_TRY(broken_);
    if (ended_ || in_end_ - in_begin_ < kLengthBytes) return false;
    const Result<std::size_t> length = sealed_length(in_.get() + in_begin_);
    if (!length.is_ok()) return broken_ = length.status();
    if (in_end_ - in_begin_ < kLengthBytes + length.value()) return false;
    const ByteSpan sealed(in_.get() + in_begin_ + kLengthBytes, length.value());
    const std::size_t plain = length.value() - kTagBytes;
    const bool fits = plain <= into.size() - received;
    if (!fits && !opened_) opened_ = make_buffer(kMaxMessageBytes);
    broken_ = open(receiving_, sealed, fits ? into.data() + received : opened_.get());
    FERRY_TRY(broken_);
    in_begin_ += kLengthBytes + length.value();
    ended_ = plain == 0;
    if (fits) {
      received += plain;
    } else {
      opened_begin_ = 0;
      opened_end_ = plain;
      received += take_opened(into.subspan(received));
    }
    return true;
  }

  // Opens all records that have arrived completely and fit, if there are several. Returns false and takes none of them
  // if one does not open; open_next() then finds out which one.
  bool open_together(ParallelRecords& parallel, MutableByteSpan into, std::size_t& received) {
    struct Place {
      ByteSpan sealed;
      std::uint8_t* plain;
    };
    std::array<Place, kTogether> places;
    std::size_t count = 0, begin = in_begin_, end = received;
    while (!ended_ && count < kTogether && in_end_ - begin >= kLengthBytes) {
      const Result<std::size_t> length = sealed_length(in_.get() + begin);
      // open_next() handles the record that ends the stream.
      if (!length.is_ok() || length.value() == kTagBytes) break;
      const std::size_t plain = length.value() - kTagBytes;
      if (in_end_ - begin < kLengthBytes + length.value() || plain > into.size() - end) break;
      places[count++] = {ByteSpan(in_.get() + begin + kLengthBytes, length.value()), into.data() + end};
      begin += kLengthBytes + length.value();
      end += plain;
    }
    if (count < 2) return true;
    std::atomic<bool> all_open{true};
    parallel.share(count, [&](std::size_t i) {
      OpeningState numbered = receiving_;
      numbered.next += i;
      if (!open(numbered, places[i].sealed, places[i].plain).is_ok()) all_open = false;
    });
    if (!all_open) return false;
    receiving_.next += count;
    in_begin_ = begin;
    received = end;
    return true;
  }

  // Receives at least the missing bytes of the next record.
  Status fill(Clock::time_point deadline, std::size_t received, std::size_t at_least) {
    if (!in_) in_ = make_buffer(kInCapacity);
    const std::size_t here = in_end_ - in_begin_;
    std::size_t wanted = kLengthBytes;
    if (here >= kLengthBytes) {
      FERRY_ASSIGN(const std::size_t length, sealed_length(in_.get() + in_begin_));
      wanted = kLengthBytes + length;
    }
    std::memmove(in_.get(), in_.get() + in_begin_, here);
    in_begin_ = 0;
    in_end_ = here;
    if (timeout_.count() > 0) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return receive_timed_out(timeout_);
      under_->set_receive_timeout(left);
    }
    const Result<std::size_t> count =
        under_->receive_some(MutableByteSpan(in_.get() + here, kInCapacity - here), wanted - here);
    if (count.is_ok()) {
      in_end_ += count.value();
      return {};
    }
    if (count.status().code() == ErrorCode::deadline_exceeded) return receive_timed_out(timeout_);
    if (count.status().message().rfind(kPeerClosed, 0) != 0) return count.status();
    return broken_ = Status(ErrorCode::unavailable,
                            std::string(kStreamCut) + (received == 0 ? std::string()
                                                                     : " after " + std::to_string(received) + " of " +
                                                                           std::to_string(at_least) + " bytes"));
  }

  std::unique_ptr<Transport> under_;
  SealingState sending_;
  Buffer out_;
  std::size_t out_used_ = 0;
  std::array<std::uint8_t, kLargePiece> stage_;
  std::size_t staged_ = 0;

  OpeningState receiving_;
  Buffer in_;  // encrypted bytes as received
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
  Buffer opened_;  // plaintext of one record
  std::size_t opened_begin_ = 0;
  std::size_t opened_end_ = 0;
  bool ended_ = false;  // the peer ended the stream with a record
  Status broken_;
  milliseconds timeout_{0};
};

}  // namespace

std::unique_ptr<Transport> secure_transport(std::unique_ptr<Transport> under, const SealingState& sending,
                                            const OpeningState& receiving) {
  return std::make_unique<SecureTransport>(std::move(under), sending, receiving);
}

}  // namespace ferry::secure
