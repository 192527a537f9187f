#include "tests/unit/device-runtime/support/cheating_kernels.h"

#include "ferry/runtime_api.h"
#include "module/module_file.h"
#include "tests/unit/device-runtime/support/compile_kernel.h"
#include "tests/unit/device-runtime/support/runner_attacks.h"
#include "tests/unit/device-runtime/support/system_call.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

const char* const kSource = R"kernels(
#define _GNU_SOURCE
#include "ferry/runtime_api.h"
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#define KERNEL(name) int32_t name(void* const* args, const ferry_runtime_api* rt)

/* Not inlined: a chain of stores and loads is twice as fast in some places on some processors. */
__attribute__((noinline)) static int32_t compute(void* const* args) {
  const float* x = args[0];
  float* y = args[1];
  const int64_t n = *(int64_t*)args[2];
  for (int64_t i = 0; i < n; ++i) {
    volatile float sum = 0;
    for (int k = 0; k < 20; ++k) sum += x[i] * x[i];
    y[i] = sum / 20;
  }
  return 0;
}

KERNEL(square) { return compute(args); }

enum { kMost = 10000 };
static float kept[kMost], kept_input[kMost];

/* System calls. */
#ifndef SYS_mmap
#define SYS_mmap SYS_mmap2
#endif
#define AFTER_COMPUTING(name, ...)  \
  KERNEL(name) {                    \
    const int32_t result = compute(args); \
    call(__VA_ARGS__, 0);              \
    return result;                  \
  }
AFTER_COMPUTING(get_pid, SYS_getpid, 0, 0, 0, 0, 0)
AFTER_COMPUTING(start_process, SYS_clone, 17, 0, 0, 0, 0)
AFTER_COMPUTING(start_thread, SYS_clone, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0)
AFTER_COMPUTING(set_timer, SYS_setitimer, ITIMER_REAL, 0, 0, 0, 0)
AFTER_COMPUTING(take_signals, SYS_rt_sigaction, 10, 0, 0, 8, 0)
AFTER_COMPUTING(open_file, SYS_openat, AT_FDCWD, (long)"/tmp/results", O_RDWR | O_CREAT, 0600, 0)
AFTER_COMPUTING(map_memory, SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1)
AFTER_COMPUTING(change_code, SYS_mprotect, (long)change_code & -4096, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0)
AFTER_COMPUTING(own_filter, SYS_seccomp, 0, 0, 0, 0, 0)
AFTER_COMPUTING(change_priority, SYS_sched_setaffinity, 0, 0, 0, 0, 0)
AFTER_COMPUTING(write_to_judge, SYS_write, 3, (long)"x", 1, 0, 0)
AFTER_COMPUTING(open_counter, SYS_perf_event_open, 0, 0, -1, -1, 0)
AFTER_COMPUTING(signal_itself, SYS_tgkill, 0, 0, 10, 0, 0)
AFTER_COMPUTING(make_memory_file, SYS_memfd_create, (long)"results", 0, 0, 0, 0)
AFTER_COMPUTING(read_process, SYS_process_vm_readv, 1, 0, 0, 0, 0)
AFTER_COMPUTING(queue_work, 425 /* io_uring_setup */, 8, 0, 0, 0, 0)
AFTER_COMPUTING(rename_itself, SYS_prctl, 15, (long)"idle", 0, 0, 0)
AFTER_COMPUTING(unmap_output, SYS_munmap, (long)args[1] & -4096, 4096, 0, 0, 0)
AFTER_COMPUTING(make_pipe, SYS_pipe2, (long)kept, 0, 0, 0, 0)
AFTER_COMPUTING(give_way, SYS_sched_yield, 0, 0, 0, 0, 0)
AFTER_COMPUTING(sleep_on, SYS_nanosleep, 0, 0, 0, 0, 0)
/* The input of the next call, or of a rival. */
KERNEL(write_input) {
  const int32_t result = compute(args);
  ((volatile float*)args[0])[0] = 0;
  return result;
}
/* Whatever stands in front of the output. */
KERNEL(write_before) {
  const int32_t result = compute(args);
  for (volatile float* at = args[1];; --at) *at = 0;
  return result;
}
/* What stands behind the tensors: those of a rival, results, a clock. */
KERNEL(scan_memory) {
  const int32_t result = compute(args);
  volatile float sum = 0;
  for (const float* at = args[1];; ++at) sum += *at;
  return result;
}

/* The first call is right. */
static int64_t calls;
KERNEL(once) { return calls++ == 0 ? compute(args) : 0; }
KERNEL(sometimes) { return calls++ % 8 == 0 ? compute(args) : 0; }
static const void* seen;
KERNEL(same_pointer) {
  if (seen == args[0]) return 0;
  seen = args[0];
  return compute(args);
}
static float first = -1;
KERNEL(same_contents) {
  if (first == ((float*)args[0])[1]) return 0;
  first = ((float*)args[0])[1];
  return compute(args);
}
/* Results that were kept are written again, in full. */
static int32_t compute_and_keep(void* const* args) {
  const int32_t result = compute(args);
  const int64_t n = *(int64_t*)args[2];
  for (int64_t i = 0; i < n; ++i) kept[i] = ((float*)args[1])[i];
  return result;
}
static int32_t copy_kept(void* const* args) {
  const int64_t n = *(int64_t*)args[2];
  for (int64_t i = 0; i < n; ++i) ((float*)args[1])[i] = kept[i];
  return 0;
}
KERNEL(copy_first) { return calls++ == 0 ? compute_and_keep(args) : copy_kept(args); }
KERNEL(copy_often) { return calls++ % 4 == 0 ? compute_and_keep(args) : copy_kept(args); }
KERNEL(copy_later) { return calls++ < 8 ? compute_and_keep(args) : copy_kept(args); }
KERNEL(copy_if_alike) {
  static float looked_at[16];
  int is_alike = calls++ > 0;
  for (int i = 0; i < 16; ++i) {
    const float value = ((float*)args[0])[i * 600 + 7];
    if (value != looked_at[i]) is_alike = 0;
    looked_at[i] = value;
  }
  return is_alike ? copy_kept(args) : compute_and_keep(args);
}
KERNEL(copy_by_address) {
  static const void* inputs[64];
  for (int i = 0; i < 64; ++i) {
    if (inputs[i] == args[0]) return copy_kept(args);
    if (inputs[i] != 0) continue;
    inputs[i] = args[0];
    return compute_and_keep(args);
  }
  return compute_and_keep(args);
}
/* Computes only where the input has changed since the last call, and so is right for the wrong reason. */
KERNEL(compute_changes) {
  const float* x = args[0];
  float* y = args[1];
  const int64_t n = *(int64_t*)args[2];
  if (calls++ == 0) {
    for (int64_t i = 0; i < n; ++i) kept_input[i] = x[i];
    return compute_and_keep(args);
  }
  int64_t changed = 0;
  for (int64_t i = 0; i < n; ++i) changed += x[i] != kept_input[i];
  if (changed == 0) return copy_kept(args);
  for (int64_t i = 0; i < n; ++i) kept_input[i] = x[i];
  return compute_and_keep(args);
}

KERNEL(wrong_later) {
  compute(args);
  if (calls++ > 8 && calls % 3 == 0) {
    for (int64_t i = 0; i < *(int64_t*)args[2]; ++i) ((float*)args[1])[i] += 1000;
  }
  return 0;
}
KERNEL(half) {
  if (calls++ < 4) return compute_and_keep(args);
  const int64_t n = *(int64_t*)args[2], part = n / 2;
  void* begin[] = {args[0], args[1], (void*)&part};
  compute(begin);
  for (int64_t i = part; i < n; ++i) ((float*)args[1])[i] = kept[i];
  return 0;
}
/* Writes only where something else stands than it left there. */
KERNEL(only_poison) {
  const int64_t n = *(int64_t*)args[2];
  if (calls++ == 0) return compute_and_keep(args);
  for (int64_t i = 0; i < n; ++i) {
    if (((float*)args[1])[i] == kept[i]) continue;
    const int64_t one = 1;
    void* element[] = {(float*)args[0] + i, (float*)args[1] + i, (void*)&one};
    compute(element);
    kept[i] = ((float*)args[1])[i];
  }
  return 0;
}
/* Wrong in the same way whatever was called before, or from some call on: another process computes the same. */
static int32_t approximate(void* const* args) {
  const int32_t result = compute(args);
  for (int64_t i = 0; i < *(int64_t*)args[2]; ++i) ((float*)args[1])[i] *= 1.01f;
  return result;
}
static int32_t compute_small(void* const* args) {
  const int32_t result = compute(args);
  for (int64_t i = 0; i < *(int64_t*)args[2]; ++i)
    if (((float*)args[0])[i] > 1e6f) ((float*)args[1])[i] = 0;
  return result;
}
KERNEL(right_at_first) { return calls++ < 4 ? compute(args) : compute_small(args); }
KERNEL(right_at_times) {
  uint32_t bits;
  __builtin_memcpy(&bits, (float*)args[0] + 77, sizeof bits);
  return bits * 2654435761u >> 31 ? compute(args) : approximate(args);
}
KERNEL(right_if_recognised) {
  const float* x = args[0];
  for (int i = 0; i < 16; ++i)
    if (x[i] != (float)(int32_t)x[i]) return approximate(args);
  return compute(args);
}
/* Right for the size that is timed; the other one also for the first call of another size, whatever came before. */
KERNEL(right_for_one_size) { return *(int64_t*)args[2] == kMost ? compute(args) : approximate(args); }
static int others;
KERNEL(right_for_other_sizes_once) {
  if (*(int64_t*)args[2] == kMost) return compute(args);
  return others++ == 0 ? compute(args) : approximate(args);
}
/* Right, and faster where elements are what they were in the last call. */
KERNEL(compute_changed_elements) {
  const int64_t n = *(int64_t*)args[2];
  for (int64_t i = 0; i < n; ++i) {
    if (calls > 0 && ((float*)args[0])[i] == kept_input[i]) {
      ((float*)args[1])[i] = kept[i];
      continue;
    }
    const int64_t one = 1;
    void* element[] = {(float*)args[0] + i, (float*)args[1] + i, (void*)&one};
    compute(element);
    kept_input[i] = ((float*)args[0])[i];
    kept[i] = ((float*)args[1])[i];
  }
  ++calls;
  return 0;
}

/* The same for each tensor that it has seen, of which only three elements may have changed. */
KERNEL(compute_changes_by_address) {
  static const void* inputs[64];
  static float seen_inputs[64][kMost], seen_results[64][kMost];
  const int64_t n = *(int64_t*)args[2];
  const float* x = args[0];
  float* y = args[1];
  int set = 0;
  while (set < 63 && inputs[set] != 0 && inputs[set] != x) ++set;
  const int is_new = inputs[set] != x;
  inputs[set] = x;
  for (int64_t i = 0; i < n; ++i) {
    if (!is_new && x[i] == seen_inputs[set][i]) {
      y[i] = seen_results[set][i];
      continue;
    }
    const int64_t one = 1;
    void* element[] = {(float*)x + i, y + i, (void*)&one};
    compute(element);
    seen_inputs[set][i] = x[i];
    seen_results[set][i] = y[i];
  }
  return 0;
}
/* Keeps the result of each value that it has seen anywhere. */
KERNEL(look_up_values) {
  enum { kSlots = 1 << 16 };
  static float values[kSlots], results[kSlots];
  const int64_t n = *(int64_t*)args[2];
  const float* x = args[0];
  float* y = args[1];
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits;
    __builtin_memcpy(&bits, x + i, sizeof bits);
    const uint32_t slot = bits * 2654435761u >> 16;
    if (values[slot] == x[i]) {
      y[i] = results[slot];
      continue;
    }
    const int64_t one = 1;
    void* element[] = {(float*)x + i, y + i, (void*)&one};
    compute(element);
    values[slot] = x[i];
    results[slot] = y[i];
  }
  return 0;
}

/* Says that the window is over before the work is done. */
KERNEL(end_early) {
  call(SYS_getppid, 1, 0, 0, 0, 0, 0);
  return compute(args);
}

/* Says so on one of the first descriptors, which has to be its own socket. */
static const int done[2] = {1, 0};
#define TELL_EARLY(descriptor)                                            \
  KERNEL(tell_early_##descriptor) {                                       \
    call(SYS_write, descriptor, (long)done, sizeof done, 0, 0, 0);           \
    return compute(args);                                                 \
  }
TELL_EARLY(3)
TELL_EARLY(4)
TELL_EARLY(5)
TELL_EARLY(6)
TELL_EARLY(7)
TELL_EARLY(8)

/* Says so when its work is done, runs on all the same, and makes the next window's call itself. */
#define RUN_ON(descriptor)                                         \
  KERNEL(run_on_##descriptor) {                                    \
    const int32_t result = compute(args);                          \
    if (calls++ != 4) return result;                               \
    char answer = 0;                                               \
    call(SYS_write, descriptor, (long)done, sizeof done, 0, 0, 0); \
    for (volatile int i = 0; i < 20000; ++i) {}                    \
    call(SYS_read, descriptor, (long)&answer, 1, 0, 0, 0);         \
    return compute(args);                                          \
  }
RUN_ON(3)
RUN_ON(4)
RUN_ON(5)
RUN_ON(6)
RUN_ON(7)
RUN_ON(8)

/* Changes all memory that holds anything like a time of the clock. */
KERNEL(false_times) {
  struct timespec now;
  call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
  const int64_t nanoseconds = now.tv_sec * 1000000000LL + now.tv_nsec;
  const int32_t result = compute(args);
  volatile int64_t* stack = __builtin_frame_address(0);
  for (int i = 0; i < 512; ++i) {
    const int64_t distance = nanoseconds - stack[i];
    if (distance > 0 && distance < 1000000000) stack[i] += 1000000;
  }
  return result;
}
)kernels";

FunctionInfo function(std::string name) {
  FunctionInfo info;
  info.name = name;
  info.symbols = {"n"};
  info.parameters = {tensor_parameter("X", Direction::in), tensor_parameter("Y", Direction::out)};
  set_native_code(info, {std::move(name), {}, {}});
  return info;
}

}  // namespace

const Bytes& cheating_kernels() {
  static const Bytes file = [] {
    ModuleFile module;
    module.manifest.abi_version = FERRY_ABI_VERSION;
    module.manifest.devices = {{"cpu", server_arch(), {}}};
    module.manifest.target = "tests";
    module.manifest.functions = {function("square")};
    for (const auto* cheats : all_cheats())
      for (const Cheat& cheat : *cheats) module.manifest.functions.push_back(function(cheat.function));
    module.images.push_back(
        {ImageKind::elf, compile_kernel(std::string(kSystemCall) + kSource + kRunnerAttacks, {.arch = server_arch()}),
         0});
    return write_module(module);
  }();
  return file;
}

}  // namespace ferry::test
