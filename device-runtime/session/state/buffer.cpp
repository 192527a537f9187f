#include "device-runtime/session/state/buffer.h"

#include <algorithm>

#include "base/format.h"

namespace ferry::device {
namespace {

unsigned long long number(std::uint64_t value) { return value; }

}  // namespace

Result<std::unique_ptr<Buffer>> Buffer::allocate(Device& device, std::uint64_t bytes) {
  FERRY_ASSIGN(void* memory, device.allocate(bytes));
  return own(device, memory, bytes);
}

std::unique_ptr<Buffer> Buffer::own(Device& device, void* memory, std::uint64_t bytes) {
  return std::unique_ptr<Buffer>(new Buffer(device, memory, bytes, true));
}

std::unique_ptr<Buffer> Buffer::borrow(Device& device, void* memory, std::uint64_t bytes) {
  return std::unique_ptr<Buffer>(new Buffer(device, memory, bytes, false));
}

Status Buffer::check_range(rpc::Handle handle, std::uint64_t offset, std::uint64_t bytes) const {
  if (offset <= bytes_ && bytes <= bytes_ - offset) return {};
  return {ErrorCode::invalid_argument, format("buffer %llu: expected a range within %llu bytes, got %llu bytes at %llu",
                                              number(handle), number(bytes_), number(bytes), number(offset))};
}

void Buffer::mark_unwritten(std::uint64_t offset, std::uint64_t bytes, std::uint64_t cause) {
  // An invalid range could have meant any part of the contents.
  const bool sensible = offset <= bytes_ && bytes <= bytes_ - offset;
  const std::uint64_t begin = sensible ? offset : 0;
  const std::uint64_t end = sensible ? offset + bytes : bytes_;
  if (begin == end) return;
  if (unwritten_begin_ == unwritten_end_) {
    unwritten_begin_ = begin;
    unwritten_end_ = end;
    cause_ = cause;
    return;
  }
  unwritten_begin_ = std::min(unwritten_begin_, begin);
  unwritten_end_ = std::max(unwritten_end_, end);
}

void Buffer::mark_written(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t end = offset + bytes;
  // The written range is removed at either end only; a hole in the middle is not tracked.
  if (offset <= unwritten_begin_) unwritten_begin_ = std::clamp(end, unwritten_begin_, unwritten_end_);
  if (end >= unwritten_end_) unwritten_end_ = std::clamp(offset, unwritten_begin_, unwritten_end_);
}

Status Buffer::check_contents(RequestContext& context, rpc::Handle handle, std::uint64_t offset,
                              std::uint64_t bytes) const {
  if (std::max(offset, unwritten_begin_) >= std::min(offset + bytes, unwritten_end_)) return {};
  return context.aborted(
      cause_, format("buffer %llu was to be written by request %llu, which failed", number(handle), number(cause_)));
}

}  // namespace ferry::device
