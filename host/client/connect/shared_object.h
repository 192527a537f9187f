// An object of memory (memfd) with no name, whose parts this process and a server that it starts map both. Nobody can
// change its size any more, so that an access never reaches beyond its end, whatever the server does. What it contains
// may change at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/descriptor.h"

namespace ferry::session {

class SharedObject {
 public:
  // Makes one that is larger than all memory. It takes memory only for what is written. Returns null where the system
  // has none, or limits the sizes of files or addresses.
  static std::unique_ptr<SharedObject> make();
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  ~SharedObject();

  int descriptor() const { return object_.number(); }
  // The second half is for this process to divide, the first half for the server.
  std::uint64_t begin() const { return half_; }
  std::uint64_t end() const { return 2 * half_; }
  // Returns where an offset in the second half is.
  std::uint8_t* at(std::uint64_t offset) const { return memory_ + (offset - half_); }
  // Gives whole pages of the second half back to the system. They are zero afterwards.
  void discard(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  SharedObject(Descriptor object, std::uint8_t* memory, std::uint64_t half);

  Descriptor object_;
  std::uint8_t* memory_;
  std::uint64_t half_;
};

}  // namespace ferry::session
