#include "device-runtime/device/shared_memory.h"

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

// The filter of sessions has no call of the C library that says more of a file. Nobody reads from the object.
std::uint64_t size_of(int object) {
  return static_cast<std::uint64_t>(std::max<off64_t>(lseek64(object, 0, SEEK_END), 0));
}

Status no_memory() {
  return {ErrorCode::resource_exhausted, format("cannot map memory for a runner: %s", std::strerror(errno))};
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

bool is_shared_object(int descriptor, std::uint64_t bytes) {
  return fcntl(descriptor, F_GET_SEALS) == (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) && bytes <= size_of(descriptor);
}

SharedMapping::SharedMapping(SharedMapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), first_(other.first_), bytes_(std::exchange(other.bytes_, 0)) {}

SharedMapping& SharedMapping::operator=(SharedMapping&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(first_, other.first_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMapping::~SharedMapping() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

Result<SharedMapping> SharedMapping::reserve(const SharedPart& around) {
  const std::uint64_t whole = round_up(around.bytes, page_bytes());
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
  mapping.first_ = around.offset;
  mapping.bytes_ = static_cast<std::size_t>(whole);
  if (before != 0) munmap(first, before);
  munmap(mapping.base_ + mapping.bytes_, most - before - mapping.bytes_);
  return mapping;
}

bool SharedMapping::contains(const SharedPart& part) const {
  return part.offset >= first_ && part.bytes <= bytes_ && part.offset - first_ <= bytes_ - part.bytes;
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
  return {};
}

bool SharedMapping::use_huge_pages(const SharedPart& part) {
  constexpr int kCollapse = 25;  // MADV_COLLAPSE, which older headers lack
  if (part.bytes < kHugeTensor) return true;
  // The advice takes effect where the system allows huge pages in shared memory, which few do. To collapse small pages
  // is always allowed, from Linux 6.1 on, where there is at least one.
  madvise(at(part.offset), static_cast<std::size_t>(part.bytes), MADV_HUGEPAGE);
  for (std::uint64_t offset = part.offset; offset + kHugePage <= part.end(); offset += kHugePage) {
    auto* const first = static_cast<volatile std::uint8_t*>(at(offset));
    *first = *first;
    if (madvise(at(offset), kHugePage, kCollapse) != 0) return false;
  }
  return true;
}

Status SharedMapping::unmap(const SharedPart& part) {
  errno = EINVAL;
  if (!contains(part)) return no_memory();
  if (part.bytes == 0) return {};
  void* memory = mmap(at(part.offset), static_cast<std::size_t>(part.bytes), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return memory == MAP_FAILED ? no_memory() : Status();
}

bool has_huge_pages() {
  const SharedPart tensor{0, kHugeTensor};
  const Descriptor object = make_shared_object(tensor.bytes);
  Result<SharedMapping> mapping = SharedMapping::reserve(tensor);
  return object.number() >= 0 && mapping.is_ok() && mapping.value().map(object.number(), tensor, true).is_ok() &&
         mapping.value().use_huge_pages(tensor);
}

bool SharedMemory::is_clients(const SharedPart& part) const {
  const std::uint64_t size = size_of(object());
  return part.offset >= bytes_ && part.offset <= size && part.bytes <= size - part.offset;
}

Result<SharedPart> SharedMemory::take(std::uint64_t bytes, std::uint64_t lead) {
  const std::uint64_t page = page_bytes(), alignment = bytes >= kHugeTensor ? kHugePage : page;
  if (bytes <= bytes_) {
    const std::uint64_t size = round_up(lead + bytes, page);
    std::uint64_t begin = round_up(page, alignment);
    auto next = taken_.begin();
    for (; next != taken_.end() && next->offset < begin + size + page; ++next)
      begin = round_up(next->end() + page, alignment);
    if (begin + size + page <= bytes_) return *taken_.insert(next, {begin, size});
  }
  return Status(ErrorCode::resource_exhausted,
                format("there are no %llu bytes of shared memory left", static_cast<unsigned long long>(bytes)));
}

void SharedMemory::give_back(const SharedPart& part) {
  // The filter of sessions refuses fallocate, which makes files of any size.
  const auto size = static_cast<std::size_t>(part.bytes);
  void* const memory = part.bytes == 0 ? MAP_FAILED
                                       : mmap64(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                                                object(), static_cast<off64_t>(part.offset));
  if (memory != MAP_FAILED) {
    madvise(memory, size, MADV_REMOVE);
    munmap(memory, size);
  }
  std::erase_if(taken_, [&](const SharedPart& one) { return one.offset == part.offset; });
}

void* SharedMemory::take_mapped(std::uint64_t bytes) {
  const Result<SharedPart> part = take(bytes);
  if (!part.is_ok()) return nullptr;
  auto mapping = SharedMapping::reserve(part.value());
  if (mapping.is_ok() && mapping.value().map(object(), part.value(), true).is_ok() &&
      mapping.value().use_huge_pages(part.value())) {
    mapped_.push_back({part.value(), std::move(mapping.value())});
    return mapped_.back().mapping.at(part.value().offset);
  }
  give_back(part.value());
  return nullptr;
}

bool SharedMemory::give_back(const void* memory) {
  for (Mapped& mapped : mapped_) {
    if (mapped.mapping.at(mapped.part.offset) != memory) continue;
    give_back(mapped.part);
    mapped = std::move(mapped_.back());
    mapped_.pop_back();
    return true;
  }
  return false;
}

const SharedPart* SharedMemory::find(const void* memory) const {
  for (const Mapped& mapped : mapped_)
    if (mapped.mapping.at(mapped.part.offset) == memory) return &mapped.part;
  return nullptr;
}

}  // namespace ferry::device
