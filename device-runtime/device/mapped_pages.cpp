#include "device-runtime/device/mapped_pages.h"

#include <sys/mman.h>
#include <unistd.h>

namespace ferry::device {

void drop_mapped_pages(const void* memory, std::uint64_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(memory), begin = address / page * page;
  // A failure leaves the pages where they are.
  if (bytes != 0)
    madvise(reinterpret_cast<void*>(begin), static_cast<std::size_t>(address - begin + bytes), MADV_DONTNEED);
}

}  // namespace ferry::device
