// Memory that a session shares with its runners: an object of the system (memfd) with no name, of which session and
// runner map the same parts.
#pragma once

#include <cstdint>

#include "base/descriptor.h"
#include "base/status.h"
#include "device-runtime/runner/task.h"

namespace ferry::device {

// Size of the object of a session that may hold so many bytes: there is room between the parts, which takes none.
std::uint64_t shared_object_bytes(std::uint64_t memory_limit);

// Makes the object, whose size cannot change. It takes memory only for what is written. Returns no descriptor if the
// system has none.
Descriptor make_shared_object(std::uint64_t bytes);

// Lays out tensors and other contents in the object. Around every part are pages that nobody maps.
class SharedLayout {
 public:
  // Adds a part with room for so many bytes, of which the first is `lead` bytes behind the start of its first page.
  SharedPart add(std::uint64_t bytes, std::uint64_t lead = 0);
  // The end of the last part and of the page behind it.
  std::uint64_t bytes() const { return end_; }

 private:
  std::uint64_t end_ = 0;
};

// A mapping of parts of the object, each at the same distance from the start of the mapping as from the start of the
// object. The mapping begins at a multiple of the size of a huge page.
class SharedMapping {
 public:
  SharedMapping() = default;
  SharedMapping(SharedMapping&& other) noexcept;
  SharedMapping& operator=(SharedMapping&& other) noexcept;
  ~SharedMapping();

  // Reserves addresses for so many bytes, which cannot be accessed.
  static Result<SharedMapping> reserve(std::uint64_t bytes);
  // Maps a part: with `now` one that has been written to, so that accesses need no page fault any more; otherwise a large
  // one that may be written gets huge pages.
  Status map(int object, const SharedPart& part, bool may_write, bool now = false);
  // Makes a part inaccessible again.
  Status unmap(const SharedPart& part);
  std::uint8_t* at(std::uint64_t offset) const { return base_ + offset; }

 private:
  bool contains(const SharedPart& part) const;

  std::uint8_t* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace ferry::device
