// Device memory that the client refers to by a handle, and the part of its contents that a failed request should have
// written.
#pragma once

#include "device-runtime/device/device.h"
#include "device-runtime/session/state/request_context.h"

namespace ferry::device {

class Buffer {
 public:
  static Result<std::unique_ptr<Buffer>> allocate(Device& device, std::uint64_t bytes);
  // Memory that the device releases.
  static std::unique_ptr<Buffer> own(Device& device, void* memory, std::uint64_t bytes);
  // Memory of this process that the device does not own and that outlives the buffer.
  static std::unique_ptr<Buffer> borrow(Device& device, void* memory, std::uint64_t bytes);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (is_own_) device_.release(memory_, bytes_);
  }

  Device& device() const { return device_; }
  void* memory() const { return memory_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint8_t* host_address() const { return device_.host_address(memory_); }

  // Returns invalid_argument unless [offset, offset + bytes) lies inside the buffer.
  Status check_range(rpc::Handle handle, std::uint64_t offset, std::uint64_t bytes) const;

  // Records that the request `cause` should have written this range but did not.
  void mark_unwritten(std::uint64_t offset, std::uint64_t bytes, std::uint64_t cause);
  // Records that the range now has valid contents.
  void mark_written(std::uint64_t offset, std::uint64_t bytes);
  // Returns aborted if the range's contents depend on a failed request.
  Status check_contents(RequestContext& context, rpc::Handle handle, std::uint64_t offset, std::uint64_t bytes) const;

 private:
  Buffer(Device& device, void* memory, std::uint64_t bytes, bool is_own)
      : device_(device), memory_(memory), bytes_(bytes), is_own_(is_own) {}

  Device& device_;
  void* memory_;
  std::uint64_t bytes_;
  bool is_own_;
  // The smallest range that covers everything that failed requests left unwritten, and the first of those requests.
  std::uint64_t unwritten_begin_ = 0;
  std::uint64_t unwritten_end_ = 0;
  std::uint64_t cause_ = 0;
};

}  // namespace ferry::device
