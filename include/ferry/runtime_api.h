/* The binary interface between compiled kernels and the program that runs them. It is plain C, so that kernels in any
   language can include it.

   A kernel is   int32_t f(void* const* args, const ferry_runtime_api* rt);
   args holds, in the manifest's order, one pointer per parameter (to a tensor's first element, or to a scalar), then
   one pointer per symbol (to an int64_t). The kernel returns 0, or 1 + the index of one of the manifest's messages;
   negative results are reserved for the runtime.

   Slots are only ever appended. A kernel that needs a slot beyond version 1 must check `size` first. */
#ifndef FERRY_RPC_ABI_RUNTIME_API_H
#define FERRY_RPC_ABI_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FERRY_ABI_VERSION 1

typedef struct ferry_runtime_api ferry_runtime_api;

/* Runs iterations [begin, end); a non-zero result ends the loop early and becomes the kernel's result. */
typedef int32_t (*ferry_parallel_body)(int64_t begin, int64_t end, void* closure);

typedef int32_t (*ferry_kernel)(void* const* args, const ferry_runtime_api* rt);

enum ferry_workspace_kind {
  FERRY_WORKSPACE_CALL = 0,  /* one block per call, shared by all its threads */
  FERRY_WORKSPACE_THREAD = 1 /* one block per thread that runs a parallel body */
};

struct ferry_runtime_api {
  uint32_t size; /* of this struct in the version of the runtime */
  uint32_t version;
  /* Splits [0, n) into chunks of at least `grain` iterations over the session's threads and waits for all of them.
     Returns the first non-zero result of a body and skips the chunks not yet started. A nested call runs inline. */
  int32_t (*parallel_for)(const ferry_runtime_api* rt, int64_t n, int64_t grain, ferry_parallel_body body,
                          void* closure);
  /* Returns the workspace of this kind, 64-byte aligned and of the size in the manifest; null if that has none. */
  void* (*workspace)(const ferry_runtime_api* rt, int32_t kind);
  /* Prints text for the user who started the kernel; it need not end in a newline. */
  void (*print)(const ferry_runtime_api* rt, const char* bytes, size_t length);
  /* Returns a later extension by name; null if the runtime does not know the name. */
  void* (*query)(const ferry_runtime_api* rt, const char* name);
};

#ifdef __cplusplus
}
#endif

#endif
