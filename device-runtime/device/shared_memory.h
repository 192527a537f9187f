// Memory that a session shares with its runners: an object of the system (memfd) with no name, of which session and
// runner map the same parts.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/status.h"

namespace ferry::device {

// Size of the object of a session that may hold so many bytes: there is room between the parts, which takes none.
std::uint64_t shared_object_bytes(std::uint64_t memory_limit);

// Makes the object, whose size cannot change. It takes memory only for what is written. Returns no descriptor if the
// system has none.
Descriptor make_shared_object(std::uint64_t bytes);

// Whether the system gives huge pages to such objects.
bool has_huge_pages();

// Whether it is an object of at least so many bytes whose size cannot change.
bool is_shared_object(int descriptor, std::uint64_t bytes);

// A part of the object: whole pages. Around it are pages that nobody maps.
struct SharedPart {
  std::uint64_t offset = 0, bytes = 0;

  std::uint64_t end() const { return offset + bytes; }
};

// A mapping of parts of the object, each at the same distance from the start of the mapping as from the start of the
// object. The mapping begins at a multiple of the size of a huge page.
class SharedMapping {
 public:
  SharedMapping() = default;
  SharedMapping(SharedMapping&& other) noexcept;
  SharedMapping& operator=(SharedMapping&& other) noexcept;
  ~SharedMapping();

  // Reserves addresses, which cannot be accessed, for the parts that lie in this one.
  static Result<SharedMapping> reserve(const SharedPart& around);
  // Maps a part that lies in what is reserved. With `now`, accesses to what has been written there need no page fault
  // any more.
  Status map(int object, const SharedPart& part, bool may_write, bool now = false);
  // Gives a part that may be written, and is large, huge pages. Returns false if the system has none for it.
  bool use_huge_pages(const SharedPart& part);
  // Makes a part inaccessible again.
  Status unmap(const SharedPart& part);
  std::uint8_t* at(std::uint64_t offset) const { return base_ + (offset - first_); }

 private:
  bool contains(const SharedPart& part) const;

  std::uint8_t* base_ = nullptr;  // the address of `first_`
  std::uint64_t first_ = 0;
  std::size_t bytes_ = 0;
};

// The object of a session, and what lies where in it.
class SharedMemory {
 public:
  SharedMemory(Descriptor object, std::uint64_t bytes) : object_(std::move(object)), bytes_(bytes) {}

  int object() const { return object_.number(); }
  // Whether a part lies in the object, behind what take() gives: an object that the client has made is larger.
  bool is_clients(const SharedPart& part) const;

  // Reserves a part for so many bytes, of which the first is `lead` bytes behind the start of its first page. Large
  // parts begin at a huge page. Fails with resource_exhausted.
  Result<SharedPart> take(std::uint64_t bytes, std::uint64_t lead = 0);
  // Gives the part's memory back to the system.
  void give_back(const SharedPart& part);

  // Returns a part's memory, zeroed, mapped in this process; null if there is none, or if it is large and the system
  // has no huge pages for it.
  void* take_mapped(std::uint64_t bytes);
  // Returns false if it is not of take_mapped().
  bool give_back(const void* memory);
  // Returns which part memory of take_mapped() is; null: it is not of that.
  const SharedPart* find(const void* memory) const;

 private:
  struct Mapped {
    SharedPart part;
    SharedMapping mapping;
  };

  Descriptor object_;
  std::uint64_t bytes_;
  std::vector<SharedPart> taken_;  // by offset
  std::vector<Mapped> mapped_;
};

}  // namespace ferry::device
