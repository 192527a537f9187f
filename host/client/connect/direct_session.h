// A session in the client's own process offers more than messages: tensors at addresses of this process, and calls
// that take a microsecond. A connector whose device is in this process provides one with its link.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ferry/blob_source.h"
#include "module/manifest.h"
#include "rpc/messages.h"

namespace ferry::session {

// An argument as a direct call takes it: a number, or dense memory of this process.
struct DirectArgument {
  ArgumentShape shape;
  void* memory = nullptr;         // tensors
  std::uint64_t scalar_bits = 0;  // little-endian, in the low bytes
};

// A call that is bound for arguments of certain sizes. All functions throw Error.
class DirectCall {
 public:
  virtual ~DirectCall() = default;
  // Whether other memory and numbers may take the place of those that it was bound with.
  virtual bool is_movable() const = 0;
  // Both require that it is movable. The memory must be as large; check() is due before the next run.
  virtual void set_memory(std::size_t parameter, void* memory) = 0;
  virtual void set_scalar(std::size_t parameter, std::uint64_t bits) = 0;
  // Refuses memory that overlaps with what the function writes, and what the code expects to be aligned and is not.
  virtual void check() const = 0;
  virtual void run() = 0;
};

// All functions throw Error.
class DirectSession {
 public:
  virtual ~DirectSession() = default;
  virtual void allocate(rpc::Handle buffer, std::uint64_t bytes) = 0;
  // Makes a buffer of memory that outlives it.
  virtual void adopt(rpc::Handle buffer, void* memory, std::uint64_t bytes) = 0;
  virtual void free(rpc::Handle buffer) noexcept = 0;
  // Returns null for a buffer of 0 bytes.
  virtual std::uint8_t* address(rpc::Handle buffer) const = 0;
  // Takes a blob for the next module.
  virtual void put_blob(const Blob& blob, const BlobSource& source) = 0;
  // `module` has been sent; `instance` is 0 if the function needs none.
  virtual std::unique_ptr<DirectCall> prepare(rpc::Handle module, std::size_t function, rpc::Handle instance,
                                              std::span<const DirectArgument> arguments) = 0;
};

}  // namespace ferry::session
