#include "device-runtime/runner/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/format.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kHugePage = 2 << 20;
// From this size on tensors begin at a huge page.
constexpr std::uint64_t kHugeTensor = 4 << 20;

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }
std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

Status no_memory() {
  return {ErrorCode::resource_exhausted, format("cannot map memory for a runner: %s", std::strerror(errno))};
}

// Gives whole huge pages to what part of this memory they can hold. The advice for mappings takes effect where the
// system allows huge pages in shared memory, which few do; to collapse small ones is always allowed, from Linux 6.1 on,
// where there is at least one. If nothing helps, pages remain small.
void use_huge_pages(std::uint8_t* memory, std::size_t bytes) {
  constexpr int kCollapse = 25;  // MADV_COLLAPSE, which older headers lack
  madvise(memory, bytes, MADV_HUGEPAGE);
  for (std::size_t at = 0; at + kHugePage <= bytes; at += kHugePage) {
    auto* const first = static_cast<volatile std::uint8_t*>(memory + at);
    *first = *first;
    if (madvise(memory + at, kHugePage, kCollapse) != 0) return;
  }
}

}  // namespace

std::uint64_t shared_object_bytes(std::uint64_t memory_limit) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 44, kRoom = std::uint64_t{1} << 30;
  return std::min(memory_limit, kMost) * 2 + kRoom;
}

Descriptor make_shared_object(std::uint64_t bytes) {
  Descriptor object(static_cast<int>(syscall(SYS_memfd_create, "tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (object.number() < 0) return object;
  const auto size = static_cast<off64_t>(bytes);
  if (ftruncate64(object.number(), size) != 0 ||
      fcntl(object.number(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    return {};
  }
  return object;
}

SharedPart SharedLayout::add(std::uint64_t bytes, std::uint64_t lead) {
  const std::uint64_t page = page_bytes();
  SharedPart part;
  part.offset = round_up(end_ + page, bytes >= kHugeTensor ? kHugePage : page);
  part.bytes = round_up(lead + bytes, page);
  end_ = part.offset + part.bytes + page;
  return part;
}

SharedMapping::SharedMapping(SharedMapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

SharedMapping& SharedMapping::operator=(SharedMapping&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMapping::~SharedMapping() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

Result<SharedMapping> SharedMapping::reserve(std::uint64_t bytes) {
  const std::uint64_t whole = round_up(bytes, page_bytes());
  if (whole > SIZE_MAX - kHugePage) {
    errno = ENOMEM;
    return no_memory();
  }
  const auto most = static_cast<std::size_t>(whole + kHugePage);
  void* memory = mmap(nullptr, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return no_memory();
  auto* first = static_cast<std::uint8_t*>(memory);
  const std::size_t before = static_cast<std::size_t>(round_up(reinterpret_cast<std::uintptr_t>(first), kHugePage)) -
                             reinterpret_cast<std::uintptr_t>(first);
  SharedMapping mapping;
  mapping.base_ = first + before;
  mapping.bytes_ = static_cast<std::size_t>(whole);
  if (before != 0) munmap(first, before);
  munmap(mapping.base_ + mapping.bytes_, most - before - mapping.bytes_);
  return mapping;
}

bool SharedMapping::contains(const SharedPart& part) const {
  return part.bytes <= bytes_ && part.offset <= bytes_ - part.bytes;
}

Status SharedMapping::map(int object, const SharedPart& part, bool may_write, bool now) {
  errno = EINVAL;
  if (!contains(part)) return no_memory();
  if (part.bytes == 0) return {};
  const auto size = static_cast<std::size_t>(part.bytes);
  const int access = may_write ? PROT_READ | PROT_WRITE : PROT_READ;
  const auto offset = static_cast<off64_t>(part.offset);
  const int how = MAP_SHARED | MAP_FIXED | (now ? MAP_POPULATE : 0);
  void* memory = mmap64(at(part.offset), size, access, how, object, offset);
  if (memory == MAP_FAILED) return no_memory();
  if (size >= kHugeTensor && may_write && !now) use_huge_pages(at(part.offset), size);
  return {};
}

Status SharedMapping::unmap(const SharedPart& part) {
  errno = EINVAL;
  if (!contains(part)) return no_memory();
  if (part.bytes == 0) return {};
  void* memory = mmap(at(part.offset), static_cast<std::size_t>(part.bytes), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return memory == MAP_FAILED ? no_memory() : Status();
}

}  // namespace ferry::device
