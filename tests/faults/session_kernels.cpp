#include "tests/faults/session_kernels.h"

#include "ferry/runtime_api.h"
#include "module/module_file.h"
#include "tests/support/architectures/architectures.h"
#include "tests/unit/device-runtime/support/compile_kernel.h"
#include "tests/unit/device-runtime/support/system_call.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

constexpr std::int64_t kResults = 2;

const char* const kSource = R"kernels(
#define _GNU_SOURCE
#include "ferry/runtime_api.h"
#include <elf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#define KERNEL(name) int32_t name(void* const* args, const ferry_runtime_api* rt)

KERNEL(linger) {
  struct linger wait = {1, (int)*(int64_t*)args[0]};
  int64_t* results = args[1];
  results[0] = 0;
  for (int socket = 0; socket < 256; ++socket) {
    results[0] += call(SYS_setsockopt, socket, SOL_SOCKET, SO_LINGER, (long)&wait, sizeof wait, 0) == 0;
  }
  return 0;
}

KERNEL(read_pages) {
  int64_t* results = args[2];
  results[0] = call(SYS_mmap, 0, *(int64_t*)args[0], PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (results[0] < 0) return 0;
  for (int64_t at = 0; at < *(int64_t*)args[0]; at += *(int64_t*)args[1]) {
    results[1] += *(volatile char*)(results[0] + at);
  }
  return 0;
}

KERNEL(grow_stack) {
  const int64_t bytes = *(int64_t*)args[0];
  int64_t* results = args[1];
  volatile char stack[16384];
  for (int64_t at = 0; at < (int64_t)sizeof stack; at += 4096) stack[at] = 1;
  const long page = ((long)stack + 4095) & -4096;
  results[0] = call(SYS_mremap, page, 4096, bytes, 1, 0, 0);
  if (results[0] < 0) return 0;
  for (int64_t at = 0; at < bytes; at += 4096) *(volatile char*)(results[0] + at) = 1;
  return 0;
}

KERNEL(open_counter) {
  struct perf_event_attr wanted = {0};
  int64_t* results = args[2];
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.config = PERF_COUNT_SW_TASK_CLOCK;
  wanted.sample_period = 100000;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  results[0] = call(SYS_perf_event_open, (long)&wanted, *(int64_t*)args[0], *(int64_t*)args[1], -1, 0, 0);
  if (results[0] < 0) return 0;
  results[1] = call(SYS_mmap, 0, 4096 + (256L << 20), PROT_READ | PROT_WRITE, MAP_SHARED, results[0], 0);
  return 0;
}

KERNEL(map_deleted) {
  const int64_t bytes = *(int64_t*)args[0];
  int64_t* results = args[1];
  const long file = call(SYS_openat, AT_FDCWD, (long)"mapped", O_RDWR | O_CREAT | O_EXCL, 0600, 0, 0);
  results[0] = file;
  if (file < 0) return 0;
  results[0] = call(SYS_fallocate, file, 0, 0, bytes, 0, 0);
  if (results[0] == 0) results[0] = call(SYS_mmap, 0, 4096, PROT_READ, MAP_SHARED, file, 0);
  call(SYS_unlinkat, AT_FDCWD, (long)"mapped", 0, 0, 0, 0);
  call(SYS_close, file, 0, 0, 0, 0, 0);
  return 0;
}

#if defined(__x86_64__)
static int64_t factor, base;

static int64_t true_time(void) {
  struct timespec now;
  call(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, (long)&now, 0, 0, 0, 0);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static int false_clock(long clock, struct timespec* now) {
  int64_t time = base + (true_time() - base) / factor;
  now->tv_sec = time / 1000000000;
  now->tv_nsec = time % 1000000000;
  return 0;
}

/* The system's shared object, which the auxiliary vector above the first thread's stack tells. */
static char* find_vdso(void) {
  uint64_t* word = __builtin_frame_address(0);
  for (;; ++word) {
    if (word[0] == 33 && word[1] >> 40 == 0x7f && word[1] % 4096 == 0 && *(uint32_t*)word[1] == 0x464c457f) break;
  }
  return (char*)word[1];
}

static int is_clock(const char* name) {
  const char* expected = "__vdso_clock_gettime";
  while (*name != 0 && *name == *expected) ++name, ++expected;
  return *name == *expected;
}

KERNEL(slow_clock) {
  char* vdso = find_vdso();
  factor = *(int64_t*)args[0];
  base = true_time();
  const Elf64_Ehdr* header = (const Elf64_Ehdr*)vdso;
  const Elf64_Phdr* segments = (const Elf64_Phdr*)(vdso + header->e_phoff);
  const Elf64_Sym* symbols = 0;
  const char* names = 0;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_DYNAMIC) continue;
    for (const Elf64_Dyn* entry = (const Elf64_Dyn*)(vdso + segments[i].p_offset); entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) symbols = (const Elf64_Sym*)(vdso + entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) names = vdso + entry->d_un.d_ptr;
    }
  }
  int64_t* results = args[1];
  results[0] = 0;
  for (int i = 1; i < 100; ++i) {
    if (!is_clock(names + symbols[i].st_name)) continue;
    unsigned char* code = (unsigned char*)vdso + symbols[i].st_value;
    const long page = (long)code >> 12 << 12;
    if (call(SYS_mprotect, page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0, 0) != 0) return 0;
    code[0] = 0x48; /* mov rax, false_clock; jmp rax */
    code[1] = 0xb8;
    *(uint64_t*)(code + 2) = (uint64_t)false_clock;
    code[10] = 0xff;
    code[11] = 0xe0;
    results[0] = 1;
    return 0;
  }
  return 0;
}
#else
KERNEL(slow_clock) { return 0; }
#endif
)kernels";

FunctionInfo function(std::string name, const std::vector<std::string>& scalars) {
  FunctionInfo info;
  info.name = name;
  info.symbols = {"n"};
  for (const std::string& scalar : scalars) info.parameters.push_back(scalar_parameter(scalar, DType::i64));
  info.parameters.push_back(tensor_parameter("R", Direction::inout, DType::i64));
  set_native_code(info, {std::move(name), {}, {}});
  return info;
}

}  // namespace

const Bytes& session_kernels() {
  static const Bytes file = [] {
    ModuleFile module;
    module.manifest.abi_version = FERRY_ABI_VERSION;
    module.manifest.devices = {{"cpu", native_arch(), {}}};
    module.manifest.target = "tests";
    module.manifest.functions = {function("linger", {"seconds"}),
                                 function("read_pages", {"bytes", "step"}),
                                 function("map_deleted", {"bytes"}),
                                 function("grow_stack", {"bytes"}),
                                 function("open_counter", {"process", "core"}),
                                 function("slow_clock", {"factor"})};
    module.images.push_back({ImageKind::elf, compile_kernel(std::string(kSystemCall) + kSource)});
    return write_module(module);
  }();
  return file;
}

rpc::Call session_kernel(TestClient& client, rpc::Handle module, const char* function,
                         const std::vector<std::int64_t>& arguments) {
  rpc::Call call{module, function, {}};
  for (const std::int64_t argument : arguments) call.arguments.push_back(scalar(argument));
  const rpc::Handle results = client.upload(std::vector<std::int64_t>(kResults));
  call.arguments.push_back(tensor(results, {kResults}, DType::i64));
  return call;
}

std::vector<std::int64_t> run_session_kernel(TestClient& client, rpc::Handle module, const char* function,
                                             const std::vector<std::int64_t>& arguments) {
  const rpc::Call call = session_kernel(client, module, function, arguments);
  client.must(call);
  return client.download<std::int64_t>(call.arguments.back().buffer, kResults);
}

}  // namespace ferry::test
