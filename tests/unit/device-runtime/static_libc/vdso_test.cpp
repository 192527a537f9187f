#include <dlfcn.h>
#include <doctest/doctest.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include <cstdint>
#include <string>
#include <vector>

// The test is linked with device-runtime/static_libc/vdso.cpp.
extern "C" void* _dl_lookup_symbol_x(const char* name, link_map* library, const ElfW(Sym) * *symbol, void*, const void*,
                                     int, int, void*);

namespace ferry::static_libc {
namespace {

constexpr const char* kNames[] = {"__vdso_clock_gettime",
                                  "__vdso_gettimeofday",
                                  "__vdso_time",
                                  "__vdso_getcpu",
                                  "__vdso_clock_getres",
                                  "__kernel_clock_gettime",
                                  "__kernel_gettimeofday",
                                  "clock_gettime",
                                  "__vdso_clock_gettime_",
                                  "no such function",
                                  ""};

// The kernel's vDSO without the entries of its dynamic section that have one of these tags.
struct Vdso {
  std::vector<ElfW(Dyn)> entries;
  link_map map{};

  Vdso(const std::uint8_t* begin, const std::vector<ElfW(Sxword)>& left_out) {
    const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(begin);
    const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(begin + header->e_phoff);
    const ElfW(Dyn)* dynamic = nullptr;
    for (int i = 0; i < header->e_phnum; ++i) {
      if (segments[i].p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin + segments[i].p_offset);
      if (segments[i].p_type == PT_LOAD)
        map.l_addr = reinterpret_cast<ElfW(Addr)>(begin) + segments[i].p_offset - segments[i].p_vaddr;
    }
    REQUIRE(dynamic != nullptr);
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
      bool is_kept = true;
      for (const ElfW(Sxword) tag : left_out) is_kept = is_kept && dynamic->d_tag != tag;
      if (is_kept) entries.push_back(*dynamic);
    }
    entries.push_back({});
    map.l_ld = entries.data();
  }

  bool has(ElfW(Sxword) tag) const {
    for (const ElfW(Dyn) & entry : entries) {
      if (entry.d_tag == tag) return true;
    }
    return false;
  }

  // Returns the address of a function, or null.
  void* find(const char* name) {
    const ElfW(Sym)* symbol = nullptr;
    CHECK(_dl_lookup_symbol_x(name, &map, &symbol, nullptr, nullptr, 0, 0, nullptr) == &map);
    return symbol == nullptr ? nullptr : reinterpret_cast<void*>(map.l_addr + symbol->st_value);
  }
};

TEST_CASE("functions of the kernel's vDSO are found with either of its hash tables, as by the C library") {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(getauxval(AT_SYSINFO_EHDR));
  void* library = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (begin == nullptr || library == nullptr) {
    MESSAGE("skipped: this kernel offers no vDSO");
    return;
  }
  for (const ElfW(Sxword) left_out : {DT_NULL, DT_HASH, DT_GNU_HASH}) {
    CAPTURE(left_out);
    Vdso vdso(begin, {left_out});
    if (!vdso.has(DT_HASH) && !vdso.has(DT_GNU_HASH)) continue;
    int count = 0;
    for (const char* name : kNames) {
      CAPTURE(name);
      void* expected = dlsym(library, name);
      CHECK(vdso.find(name) == expected);
      count += expected != nullptr ? 1 : 0;
    }
    CHECK(count > 0);
  }
  dlclose(library);
}

TEST_CASE("without a hash table or without names nothing is found in a vDSO") {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(getauxval(AT_SYSINFO_EHDR));
  if (begin == nullptr) {
    MESSAGE("skipped: this kernel offers no vDSO");
    return;
  }
  CHECK(Vdso(begin, {DT_HASH, DT_GNU_HASH}).find("__vdso_clock_gettime") == nullptr);
  CHECK(Vdso(begin, {DT_STRTAB}).find("__vdso_clock_gettime") == nullptr);
  CHECK(Vdso(begin, {DT_SYMTAB}).find("__vdso_clock_gettime") == nullptr);
}

}  // namespace
}  // namespace ferry::static_libc
