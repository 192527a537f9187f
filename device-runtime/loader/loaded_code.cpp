#include "device-runtime/loader/loaded_code.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "base/format.h"
#include "device-runtime/loader/debug_image.h"

// gdb knows these names and this layout ("JIT Compilation Interface" in its manual). It sets a breakpoint in the
// function and reads the list whenever the function is called.
extern "C" {

struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const std::uint8_t* symfile_addr;
  std::uint64_t symfile_size;
};

struct jit_descriptor {
  std::uint32_t version;
  std::uint32_t action_flag;  // 1: relevant_entry was added; 2: it is about to be removed
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};

[[gnu::used, gnu::visibility("default")]] jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};

[[gnu::used, gnu::noinline, gnu::visibility("default")]] void __jit_debug_register_code() {
  __asm__ volatile("" ::: "memory");
}

}  // extern "C"

namespace ferry::device {
namespace {

std::FILE* perf_map = nullptr;

void notify_debugger(std::uint32_t action, jit_code_entry* entry) {
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_register_code();
}

void add_to_perf_map(std::span<const std::uint8_t> image) {
  for_each_function(image, [](const char* name, std::uintptr_t address, std::uint64_t bytes) {
    std::fprintf(perf_map, "%llx %llx %s\n", static_cast<unsigned long long>(address),
                 static_cast<unsigned long long>(bytes), name);
  });
  std::fflush(perf_map);
}

}  // namespace

struct LoadedCode::Entry : jit_code_entry {
  std::vector<std::uint8_t> image;
  Hash module;
  std::uintptr_t base;
  std::uint64_t span;
};

LoadedCode::LoadedCode(const Hash& module, std::span<const std::uint8_t> file, const std::byte* base,
                       std::uint64_t span)
    : entry_(std::make_unique<Entry>()) {
  Entry& entry = *entry_;
  entry.base = reinterpret_cast<std::uintptr_t>(base);
  entry.span = span;
  entry.module = module;
  entry.image = make_debug_image(file, entry.base);
  entry.symfile_addr = entry.image.data();
  entry.symfile_size = entry.image.size();
  if (perf_map != nullptr) add_to_perf_map(entry.image);
  entry.prev_entry = nullptr;
  entry.next_entry = __jit_debug_descriptor.first_entry;
  if (entry.next_entry != nullptr) entry.next_entry->prev_entry = &entry;
  __jit_debug_descriptor.first_entry = &entry;
  notify_debugger(1, &entry);
}

LoadedCode::~LoadedCode() {
  jit_code_entry& entry = *entry_;
  (entry.prev_entry != nullptr ? entry.prev_entry->next_entry : __jit_debug_descriptor.first_entry) = entry.next_entry;
  if (entry.next_entry != nullptr) entry.next_entry->prev_entry = entry.prev_entry;
  notify_debugger(2, &entry);
}

LoadedCode::Place LoadedCode::find(std::uintptr_t address) {
  for (const jit_code_entry* each = __jit_debug_descriptor.first_entry; each != nullptr; each = each->next_entry) {
    const Entry& entry = *static_cast<const Entry*>(each);
    if (address >= entry.base && address - entry.base < entry.span) return {entry.module, address - entry.base};
  }
  return {};
}

void LoadedCode::open_perf_map() {
  // The name is predictable, so another user could place a link there.
  constexpr int kAppend = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  const int file = open(format("/tmp/perf-%d.map", getpid()).c_str(), kAppend, 0600);
  struct stat info{};
  if (file < 0) return;
  const bool own = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid();
  perf_map = own ? fdopen(file, "a") : nullptr;
  if (perf_map == nullptr) close(file);
}

}  // namespace ferry::device
