// Keeps 10 KB of glibc's dynamic loader out of the static rpc_server: the search for a symbol through libraries, their
// versions and scopes. Only the kernel's vDSO is searched here, for clock_gettime and its like.
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace {

struct Symbols {
  const ElfW(Sym) * all = nullptr;
  const char* names = nullptr;
  const std::uint32_t* hash = nullptr;
  const std::uint32_t* gnu_hash = nullptr;

  bool matches(std::uint32_t index, const char* name) const {
    return all[index].st_shndx != SHN_UNDEF && std::strcmp(names + all[index].st_name, name) == 0;
  }
};

Symbols symbols_of(const link_map& library) {
  Symbols found;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto address = library.l_addr + entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) found.all = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) found.names = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_HASH) found.hash = reinterpret_cast<const std::uint32_t*>(address);
    if (entry->d_tag == DT_GNU_HASH) found.gnu_hash = reinterpret_cast<const std::uint32_t*>(address);
  }
  return found;
}

// DT_HASH states the number of symbols, of which a vDSO has few.
const ElfW(Sym) * search_all(const Symbols& symbols, const char* name) {
  for (std::uint32_t i = 1; i < symbols.hash[1]; ++i) {
    if (symbols.matches(i, name)) return symbols.all + i;
  }
  return nullptr;
}

const ElfW(Sym) * search_bucket(const Symbols& symbols, const char* name) {
  std::uint32_t hash = 5381;
  for (const char* letter = name; *letter != 0; ++letter) hash = hash * 33 + static_cast<unsigned char>(*letter);
  const std::uint32_t bucket_count = symbols.gnu_hash[0], first = symbols.gnu_hash[1],
                      filter_words = symbols.gnu_hash[2];
  const std::uint32_t* buckets = symbols.gnu_hash + 4 + filter_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* chain = buckets + bucket_count;
  std::uint32_t i = buckets[hash % bucket_count];
  if (i < first) return nullptr;
  for (;; ++i) {
    if ((chain[i - first] | 1) == (hash | 1) && symbols.matches(i, name)) return symbols.all + i;
    if ((chain[i - first] & 1) != 0) return nullptr;
  }
}

}  // namespace

extern "C" {

// dl-lookup.o, dl-exception.o: returns the library and sets `symbol`, to null where it has none of that name.
void* _dl_lookup_symbol_x(const char* name, link_map* library, const ElfW(Sym) * *symbol, void*, const void*, int, int,
                          void*) {
  const Symbols symbols = symbols_of(*library);
  const bool is_complete = symbols.all != nullptr && symbols.names != nullptr;
  *symbol = is_complete && symbols.hash != nullptr       ? search_all(symbols, name)
            : is_complete && symbols.gnu_hash != nullptr ? search_bucket(symbols, name)
                                                         : nullptr;
  return library;
}

}  // extern "C"
