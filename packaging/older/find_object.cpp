// The function of glibc 2.35 by which GCC's unwinder finds the tables of an object, for programs that are to run with
// older ones. It walks the list of objects, as the unwinder itself did before.
#include <dlfcn.h>
#include <link.h>

#include <cstdint>

#if defined(DLFO_EH_SEGMENT_TYPE) && DLFO_STRUCT_HAS_EH_COUNT == 0 && DLFO_STRUCT_HAS_EH_DBASE == 0

namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* found;
};

int find_in(dl_phdr_info* object, std::size_t, void* data) {
  const auto& search = *static_cast<const Search*>(data);
  bool contains = false;
  std::uintptr_t tables = 0, begin = UINTPTR_MAX, end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const std::uintptr_t start = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == DLFO_EH_SEGMENT_TYPE) tables = start;
    if (part.p_type != PT_LOAD) continue;
    contains = contains || search.address - start < part.p_memsz;
    if (start < begin) begin = start;
    if (start + part.p_memsz > end) end = start + part.p_memsz;
  }
  if (!contains || tables == 0) return 0;
  *search.found = {};
  search.found->dlfo_map_start = reinterpret_cast<void*>(begin);
  search.found->dlfo_map_end = reinterpret_cast<void*>(end);
  search.found->dlfo_eh_frame = reinterpret_cast<void*>(tables);
  return 1;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(void* address, dl_find_object* found) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(address), found};
  return dl_iterate_phdr(find_in, &search) == 1 ? 0 : -1;
}

#endif
