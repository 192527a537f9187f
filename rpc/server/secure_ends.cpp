#include "rpc/server/secure_ends.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace ferry::server {

SecretMemory::SecretMemory(std::size_t most) {
  const auto unit = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  bytes_ = (most * sizeof(Place) + unit - 1) / unit * unit;
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  places_ = memory == MAP_FAILED ? nullptr : static_cast<Place*>(memory);
  if (places_ == nullptr) return;
  // An emulator may accept MADV_DONTFORK and ignore it, hence unmap().
  madvise(memory, bytes_, MADV_DONTFORK);
  madvise(memory, bytes_, MADV_DONTDUMP);
  for (std::size_t i = most; i-- > 0;) {
    auto* const place = new (places_ + i) Place;
    place->next = free_;
    free_ = place;
  }
}

SecretMemory::~SecretMemory() { unmap(); }

SecretMemory::Pointer SecretMemory::make() {
  if (free_ == nullptr) return {};
  Place* const place = free_;
  free_ = place->next;
  return Pointer(new (&place->ends) SecureEnds, Return{this});
}

void SecretMemory::Return::operator()(SecureEnds* ends) const {
  ends->~SecureEnds();
  auto* const place = new (ends) Place;
  place->next = memory->free_;
  memory->free_ = place;
}

bool SecretMemory::unmap() { return places_ == nullptr || munmap(places_, bytes_) == 0; }

}  // namespace ferry::server
