// Counts the blocks of one call in the emulator (device-runtime/emulator). The program that calls FUNCTION says
//
//     #define FUNCTION(...) count_call(FUNCTION(__VA_ARGS__))
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static void request_blocks(void) {
  const long request = 0x66650000;  // kCountRequest of device-runtime/emulator/count_request.h
  syscall(SYS_perf_event_open, request, -1, request, -1, request);
}

static int32_t end_count(int32_t code) {
  request_blocks();
  return code;
}

#define count_call(call) (request_blocks(), end_count(call))
