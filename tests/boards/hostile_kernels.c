/* Kernels that attack the board they run on; hostile_kernels.h documents each. */
#define _GNU_SOURCE
#include "ferry/runtime_api.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#define KERNEL(name) int32_t name(void* const* args, const ferry_runtime_api* rt)

/* Makes a system call. A child of clone never returns from it: it sleeps. */
static long call(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0\n cbnz x0, 2f\n cmp x8, #220\n b.ne 2f\n"
                   "1: mov x0, #0\n mov x1, #0\n mov x2, #0\n mov x3, #0\n mov x8, #73\n svc 0\n b 1b\n2:"
                   : "+r"(x0), "+r"(x8) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
  return x0;
#elif defined(__arm__)
  register long r7 __asm__("r7") = number;
  register long r0 __asm__("r0") = a;
  register long r1 __asm__("r1") = b;
  register long r2 __asm__("r2") = c;
  register long r3 __asm__("r3") = d;
  register long r4 __asm__("r4") = e;
  register long r5 __asm__("r5") = f;
  __asm__ volatile("svc 0\n cmp r0, #0\n bne 2f\n cmp r7, #120\n bne 2f\n1: mov r7, #29\n svc 0\n b 1b\n2:"
                   : "+r"(r0), "+r"(r7) : "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory", "cc");
  return r0;
#elif defined(__riscv)
  register long a7 __asm__("a7") = number;
  register long a0 __asm__("a0") = a;
  register long a1 __asm__("a1") = b;
  register long a2 __asm__("a2") = c;
  register long a3 __asm__("a3") = d;
  register long a4 __asm__("a4") = e;
  register long a5 __asm__("a5") = f;
  __asm__ volatile("ecall\n bnez a0, 2f\n li t0, 220\n bne a7, t0, 2f\n"
                   "1: li a0, 0\n li a1, 0\n li a2, 0\n li a3, 0\n li a7, 73\n ecall\n j 1b\n2:"
                   : "+r"(a0), "+r"(a7) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory", "t0");
  return a0;
#endif
}

#ifdef SYS_mmap2
#define SYS_MAP SYS_mmap2
#define MAP(bytes, more) call(SYS_mmap2, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (more), -1, 0)
#define SYS_FCNTL SYS_fcntl64
#else
#define SYS_MAP SYS_mmap
#define MAP(bytes, more) call(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (more), -1, 0)
#define SYS_FCNTL SYS_fcntl
#endif
#define IS_ERROR(result) ((unsigned long)(result) > -4096UL)

KERNEL(say) {
  rt->print(rt, "fine", 4);
  return 0;
}

KERNEL(overrun) {
  volatile uint64_t* end = (uint64_t*)((char*)args[1] + *(int64_t*)args[2]);
  for (int64_t i = 0; i < *(int64_t*)args[0] / 8; ++i) end[i] = 0x6665727279212121;
  return 0;
}

static int64_t limit_of(int resource) {
  uint64_t now[2] = {7, 7};
  call(SYS_prlimit64, 0, resource, 0, (long)now, 0, 0);
  return now[0] >> 62 ? -1 : (int64_t)now[0];
}

KERNEL(probe) {
  int64_t* results = args[0];
  uint64_t more[2] = {100000, 100000};
  results[0] = limit_of(RLIMIT_CORE);
  results[1] = call(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0);
  results[2] = call(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
  results[3] = call(SYS_socket, AF_INET, SOCK_STREAM, 0, 0, 0, 0);
  results[4] = call(SYS_setsid, 0, 0, 0, 0, 0, 0);
  results[5] = call(SYS_kill, call(SYS_getppid, 0, 0, 0, 0, 0, 0), SIGTERM, 0, 0, 0, 0);
  results[6] = call(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)more, 0, 0, 0);
  /* Allocate in pieces, which also fit into a 32-bit address space. */
  results[7] = 0;
  long taken[40];
  int count = 0;
  while (count < 40 && !IS_ERROR(taken[count] = MAP(256L << 20, 0))) ++count;
  results[7] = count < 40 ? taken[count] : 0;
  for (int i = 0; i < count; ++i) call(SYS_munmap, taken[i], 256L << 20, 0, 0, 0, 0);
  static long files[2000];
  int opened = 0;
  long open = 0;
  while (open < 64 && IS_ERROR(call(SYS_FCNTL, open, F_GETFD, 0, 0, 0, 0))) ++open;
  results[13] = call(SYS_setsockopt, open, SOL_SOCKET, SO_LINGER, (long)more, 8, 0);
  while (opened < 2000 && !IS_ERROR(files[opened] = call(SYS_FCNTL, open, F_DUPFD, 0, 0, 0, 0))) ++opened;
  for (int i = 0; i < opened; ++i) call(SYS_close, files[i], 0, 0, 0, 0, 0);
  results[8] = opened;
  results[9] = call(SYS_openat, AT_FDCWD, (long)"probe", O_WRONLY | O_CREAT, 0600, 0, 0);
  results[14] = call(SYS_fchmodat, AT_FDCWD, (long)"..", 0, 0, 0, 0);
  results[15] = call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0, 0);
  /* A thread that does not share its table of descriptors. */
  results[16] = call(SYS_clone, CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0, 0);
  results[10] = limit_of(RLIMIT_NPROC);
  uint32_t header[2] = {0x20080522, 0}, sets[6] = {0};
  call(SYS_capget, (long)header, (long)sets, 0, 0, 0, 0);
  results[12] = call(SYS_MAP, 0, 1L << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  results[11] = sets[0] | sets[1] | (int64_t)(sets[3] | sets[4]) << 32;
  return 0;
}

KERNEL(bomb) {
  int64_t* results = args[0];
  for (results[0] = 0; results[0] < 100000; ++results[0]) {
    long memory = MAP(1L << 20, MAP_POPULATE);
    if (IS_ERROR(memory)) return results[1] = memory, 0;
  }
  return 0;
}

KERNEL(threads) {
  int64_t* results = args[1];
  results[0] = 0;
  for (int64_t i = 0; i < *(int64_t*)args[0]; ++i) {
    char stack[64] __attribute__((aligned(16)));
    long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    results[1] = call(SYS_clone, flags, (long)stack, 0, 0, 0, 0);
    results[0] += results[1] > 0;
  }
  return 0;
}
