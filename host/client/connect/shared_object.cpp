#include "host/client/connect/shared_object.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace ferry::session {

namespace {

// The server's half holds twice the session's limit and 1 GiB; the limit is at most all memory.
constexpr std::uint64_t kUnit = 1 << 20;
constexpr std::uint64_t kMemoriesInHalf = 4, kRoom = std::uint64_t{4} << 30;

std::uint64_t half_of_object() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return 0;
  const std::uint64_t memory = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  return memory / kUnit * kUnit * kMemoriesInHalf + kRoom;
}

// To exceed the limit would end the process by a signal.
bool may_make_file(std::uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes);
}

}  // namespace

std::unique_ptr<SharedObject> SharedObject::make() {
  const std::uint64_t half = half_of_object();
  if (half == 0 || half > SIZE_MAX / 4 || !may_make_file(2 * half)) return nullptr;
  Descriptor object(memfd_create("ferry-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (object.number() < 0 || ftruncate(object.number(), static_cast<off_t>(2 * half)) != 0 ||
      fcntl(object.number(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    return nullptr;
  }
  void* const memory = mmap(nullptr, static_cast<std::size_t>(half), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                            object.number(), static_cast<off_t>(half));
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, static_cast<std::size_t>(half), MADV_DONTDUMP);
  return std::unique_ptr<SharedObject>(new SharedObject(std::move(object), static_cast<std::uint8_t*>(memory), half));
}

SharedObject::SharedObject(Descriptor object, std::uint8_t* memory, std::uint64_t half)
    : object_(std::move(object)), memory_(memory), half_(half) {}

SharedObject::~SharedObject() { munmap(memory_, static_cast<std::size_t>(half_)); }

void SharedObject::discard(std::uint64_t offset, std::uint64_t bytes) const {
  madvise(at(offset), static_cast<std::size_t>(bytes), MADV_REMOVE);
}

}  // namespace ferry::session
