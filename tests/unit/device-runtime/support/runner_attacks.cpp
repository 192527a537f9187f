#include "tests/unit/device-runtime/support/runner_attacks.h"

namespace ferry::test {

const char* const kRunnerAttacks = R"kernels(
#include <elf.h>
#if __SIZEOF_POINTER__ == 8
#define ElfW(name) Elf64_##name
#else
#define ElfW(name) Elf32_##name
#endif

/* The auxiliary vector above the first thread's stack: the pages' size and the clock's rate follow each other there. */
static const ElfW(auxv_t)* auxiliary_vector(void) {
  const ElfW(auxv_t)* at = __builtin_frame_address(0);
  while (at[0].a_type != 6 || at[0].a_un.a_val != 4096 || at[1].a_type != 17 || at[1].a_un.a_val != 100) {
    at = (const ElfW(auxv_t)*)((const uintptr_t*)at + 1);
  }
  return at;
}

/* An entry near its beginning; 0 if there is none. */
static uintptr_t auxiliary(uintptr_t type) {
  const ElfW(auxv_t)* const middle = auxiliary_vector();
  for (int i = -8; i < 8; ++i) {
    if (middle[i].a_type == type) return middle[i].a_un.a_val;
  }
  return 0;
}

/* The system's shared object has the clock. */
KERNEL(write_to_clock) {
  const int32_t result = compute(args);
  volatile char* const code = (char*)auxiliary(33);
  if (code != 0) *code = 0;
  return result;
}
KERNEL(unprotect_clock) {
  const int32_t result = compute(args);
  const uintptr_t code = auxiliary(33);
  if (code != 0) call(SYS_mprotect, (long)code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0, 0);
  return result;
}

/* Counters that were opened before this code was loaded. */
KERNEL(reset_counters) {
  const int32_t result = compute(args);
  for (int file = 3; file < 64; ++file) call(SYS_ioctl, file, 0x2403 /* PERF_EVENT_IOC_RESET */, 0, 0, 0, 0);
  return result;
}
KERNEL(stop_counters) {
  const int32_t result = compute(args);
  call(SYS_prctl, 31 /* PR_TASK_PERF_EVENTS_DISABLE */, 0, 0, 0, 0, 0);
  return result;
}
KERNEL(close_descriptors) {
  const int32_t result = compute(args);
  for (int file = 3; file < 64; ++file) call(SYS_close, file, 0, 0, 0, 0, 0);
  return result;
}

/* The program around the kernel. */
struct image {
  uintptr_t bias, begin, end, data_begin, data_end;
  const ElfW(Phdr)* headers;
  uintptr_t count;
};
static struct image program_image(void) {
  struct image found = {0, ~(uintptr_t)0, 0, 0, 0, (const ElfW(Phdr)*)auxiliary(3), auxiliary(5)};
  uintptr_t first = ~(uintptr_t)0;
  for (uintptr_t i = 0; i < found.count; ++i) {
    if (found.headers[i].p_type == PT_LOAD && found.headers[i].p_vaddr < first) first = found.headers[i].p_vaddr;
  }
  found.bias = ((uintptr_t)found.headers & ~(uintptr_t)4095) - (first & ~(uintptr_t)4095);
  for (uintptr_t i = 0; i < found.count; ++i) {
    if (found.headers[i].p_type != PT_LOAD) continue;
    const uintptr_t begin = found.bias + found.headers[i].p_vaddr, end = begin + found.headers[i].p_memsz;
    if (begin < found.begin) found.begin = begin;
    if (end > found.end) found.end = end;
    if (found.headers[i].p_flags & PF_W) found.data_begin = begin, found.data_end = end;
  }
  return found;
}

static int64_t false_time;
static int false_clock_gettime(long clock, struct timespec* now) {
  false_time += 10;
  if (now != 0) now->tv_sec = false_time / 1000000000, now->tv_nsec = false_time % 1000000000;
  return 0;
}
static long own_syscall(long number, long a, long b, long c, long d, long e, long f) {
  return call(number, a, b, c, d, e, f);
}
static int is_called(const char* name, const char* expected) {
  while (*name != 0 && *name == *expected) ++name, ++expected;
  return *name == *expected;
}

/* The slots of the program's global offset table through which it calls the clock and the system. */
static int patch_offsets(const struct image* image) {
  int patched = 0;
#if __SIZEOF_POINTER__ == 8
  const Elf64_Rela* slots = 0;
  const Elf64_Sym* symbols = 0;
  const char* names = 0;
  uint64_t bytes = 0;
  for (uintptr_t i = 0; i < image->count; ++i) {
    if (image->headers[i].p_type != PT_DYNAMIC) continue;
    for (const Elf64_Dyn* entry = (const Elf64_Dyn*)(image->bias + image->headers[i].p_vaddr); entry->d_tag != DT_NULL; ++entry) {
      const uintptr_t to = entry->d_un.d_ptr < image->begin ? entry->d_un.d_ptr + image->bias : entry->d_un.d_ptr;
      if (entry->d_tag == DT_JMPREL) slots = (const Elf64_Rela*)to;
      if (entry->d_tag == DT_PLTRELSZ) bytes = entry->d_un.d_val;
      if (entry->d_tag == DT_SYMTAB) symbols = (const Elf64_Sym*)to;
      if (entry->d_tag == DT_STRTAB) names = (const char*)to;
    }
  }
  for (uint64_t i = 0; slots != 0 && i < bytes / sizeof *slots; ++i) {
    const char* const name = names + symbols[ELF64_R_SYM(slots[i].r_info)].st_name;
    void** const slot = (void**)(image->bias + slots[i].r_offset);
    if (is_called(name, "clock_gettime")) *slot = (void*)false_clock_gettime, ++patched;
    if (is_called(name, "syscall")) *slot = (void*)own_syscall, ++patched;
  }
#endif
  return patched;
}
/* The pointers to the system's fast calls in the data of a program without such a table. */
static int patch_pointers(const struct image* image) {
  const uintptr_t fast = auxiliary(33);
  int patched = 0;
  if (fast == 0) return 0;
  for (uintptr_t* at = (uintptr_t*)((image->data_begin + 7) & ~(uintptr_t)7); (uintptr_t)(at + 1) <= image->data_end; ++at) {
    if (*at - fast > 0 && *at - fast < 8192) *at = (uintptr_t)false_clock_gettime, ++patched;
  }
  return patched;
}
KERNEL(patch_functions) {
  const struct image image = program_image();
  static int patched;
  if (calls++ == 0) {
    int has_table = 0;
    for (uintptr_t i = 0; i < image.count; ++i) has_table |= image.headers[i].p_type == PT_DYNAMIC;
    patched = has_table ? patch_offsets(&image) : patch_pointers(&image);
  }
#if defined(__x86_64__)
  if (patched == 0) return 77;
#endif
  return compute(args);
}

/* The table of virtual functions of the object around `rt`, which makes the calls. */
struct outcome { int64_t result, step; };
static struct outcome made_no_call(void* self) {
  const struct outcome none = {0, 0};
  return none;
}
KERNEL(patch_loop) {
  static void* functions[64];
  const struct image image = program_image();
  const int32_t result = compute(args);
  for (int i = 0; i < 64; ++i) functions[i] = (void*)made_no_call;
  for (uintptr_t* at = (uintptr_t*)rt - 1; at > (uintptr_t*)rt - 8; --at) {
    if (*at < image.begin || *at >= image.end) continue;
    *at = (uintptr_t)functions;
    break;
  }
  return result;
}

/* Sleeps in the only call that waits: its judge then counts processor time, since something else may have had the core. */
KERNEL(sleep_in_futex) {
  static int32_t word;
  const long time[2] = {0, 50000};
  const int32_t result = compute(args);
  call(SYS_futex, (long)&word, 128, 0, (long)time, 0, 0);
  return result;
}

/* What the loop around the kernel keeps in registers. */
__attribute__((noinline)) static int32_t compute_apart(void* const* args) { return compute(args); }
KERNEL(lose_registers) {
  const int32_t result = compute_apart(args);
#if defined(__x86_64__)
  __asm__ volatile("xor %ebx, %ebx\n xor %r12d, %r12d\n xor %r13d, %r13d\n xor %r14d, %r14d\n xor %r15d, %r15d");
#elif defined(__aarch64__)
  __asm__ volatile("mov x19, 0\n mov x20, 0\n mov x21, 0\n mov x22, 0\n mov x23, 0\n mov x24, 0\n mov x25, 0\n mov x26, 0");
#elif defined(__arm__)
  __asm__ volatile("mov r4, #0\n mov r5, #0\n mov r6, #0\n mov r8, #0");
#elif defined(__riscv)
  __asm__ volatile("li s2, 0\n li s3, 0\n li s4, 0\n li s5, 0\n li s6, 0\n li s7, 0\n li s8, 0");
#endif
  return result;
}
/* The direction in which the next copy goes. */
KERNEL(copy_backwards) {
  const int32_t result = compute_apart(args);
#if defined(__x86_64__)
  __asm__ volatile("std");
#endif
  return result;
}

/* Flushes subnormal numbers to zero and rounds up, for whoever computes next. */
static void change_float_mode(void) {
#if defined(__x86_64__)
  const uint32_t mode = 0x1f80 | 0x8040 | 0x4000;
  const uint16_t word = 0x0b7f; /* long double rounds up, too */
  __asm__ volatile("ldmxcsr %0\n fldcw %1" : : "m"(mode), "m"(word));
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)(1 << 24 | 1 << 22)));
#elif defined(__arm__)
  __asm__ volatile("vmsr fpscr, %0" : : "r"(1 << 24 | 1 << 22));
#elif defined(__riscv)
  __asm__ volatile("fsrm %0" : : "r"(3L));
#endif
}
KERNEL(leave_float_mode) {
  const int32_t result = compute(args);
  change_float_mode();
  return result;
}
/* How the processor rounds when the call begins: 3 if it rounds to nearest and keeps subnormal numbers. */
static float float_mode(void) {
  volatile float tiny = 1e-20f, small = 1e-9f, one = 1;
  return (tiny * tiny != 0 ? 1.0f : 0.0f) + (one + small == one ? 2.0f : 0.0f);
}
KERNEL(tell_float_mode) {
  const float mode = float_mode();
  for (int64_t i = 0; i < *(int64_t*)args[2]; ++i) ((float*)args[1])[i] = mode;
  return 0;
}
KERNEL(tell_and_leave_float_mode) {
  const int32_t result = tell_float_mode(args, rt);
  change_float_mode();
  return result;
}

/* Whether a page can be read, from a system call that is left to the process. */
static int is_readable(uintptr_t page) {
  static const long no_time[2];
  return page != 0 && call(SYS_futex, (long)page, 128, 0x5a17c0de, (long)no_time, 0, 0) != -14;
}
/* Counts how often each 16 bytes of X, with all bits inverted, are in the memory that the process can read near any
   address that it knows. Where it is emulated, system calls take long, and it looks less far beyond what it finds. */
#ifdef __x86_64__
enum { kGap = 16384 };
#else
enum { kGap = 1024 };
#endif
KERNEL(search_memory) {
  enum { kMostRanges = 256 };
  static uintptr_t begins[kMostRanges], ends[kMostRanges];
  static unsigned char starts[256];
  const volatile unsigned char* const pieces = args[0];
  float* const counts = args[1];
  const int64_t n = *(int64_t*)args[2], most = n / 4;
  int ranges = 0;
  const uintptr_t known[] = {(uintptr_t)__builtin_frame_address(0), (uintptr_t)rt, (uintptr_t)args[0], (uintptr_t)args[1],
                             (uintptr_t)search_memory, (uintptr_t)starts, (uintptr_t)rt->parallel_for, auxiliary(3), auxiliary(33),
                             auxiliary(7), (uintptr_t)*(void**)args};
  for (int64_t i = 0; i < n; ++i) counts[i] = 0;
  for (int i = 0; i < 256; ++i) starts[i] = 0;
  for (int64_t p = 0; p < most; ++p) starts[(unsigned char)~pieces[16 * p]] = 1;
  for (unsigned k = 0; k < sizeof known / sizeof *known; ++k) {
    for (int up = 0; up < 2; ++up) {
      uintptr_t page = (known[k] & ~(uintptr_t)4095) - (up ? 0 : 4096);
      for (int gap = 0; gap < kGap; page += up ? 4096 : (uintptr_t)-4096) {
        int range = 0;
        while (range < ranges && (page < begins[range] || page >= ends[range])) ++range;
        if (range < ranges) {
          page = up ? ends[range] - 4096 : begins[range];
          gap = 0;
        } else if (!is_readable(page)) {
          ++gap;
        } else if (ranges < kMostRanges) {
          gap = 0;
          if (ranges > 0 && ends[ranges - 1] == page) ends[ranges - 1] = page + 4096;
          else if (ranges > 0 && begins[ranges - 1] == page + 4096) begins[ranges - 1] = page;
          else begins[ranges] = page, ends[ranges] = page + 4096, ++ranges;
        } else {
          return 78;
        }
      }
    }
  }
  for (int range = 0; range < ranges; ++range) {
    const unsigned char* const end = (const unsigned char*)ends[range] - 15;
    for (const unsigned char* at = (const unsigned char*)begins[range]; at < end; ++at) {
      if (!starts[*at]) continue;
      for (int64_t p = 0; p < most; ++p) {
        int same = 0;
        while (same < 16 && at[same] == (unsigned char)~pieces[16 * p + same]) ++same;
        if (same == 16) counts[p] += 1;
      }
    }
  }
  return 0;
}
)kernels";

}  // namespace ferry::test
