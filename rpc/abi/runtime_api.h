/* The binary interface between compiled kernels and whoever runs them. Plain C: kernels in any language include it.

   A kernel is   int32_t f(void* const* args, const ferry_runtime_api* rt);
   args holds, in the manifest's order, one pointer a parameter (a tensor's first element, or a scalar's address), then
   one pointer a symbol (the address of an int64_t). It returns 0, or 1 + the index of one of the manifest's messages; a
   negative result is the runtime's own (FERRY_E_...).

   Slots are only ever appended. A kernel that needs a slot beyond version 1 must look at `size` first. */
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
  FERRY_WORKSPACE_CALL = 0,  /* one block a call, shared by all its threads */
  FERRY_WORKSPACE_THREAD = 1 /* one block a thread that runs a parallel body */
};

struct ferry_runtime_api {
  uint32_t size; /* of this struct as the runtime knows it */
  uint32_t version;
  /* Splits [0, n) into chunks of at least `grain` iterations over the session's threads and waits for all of them.
     Returns the first non-zero result of a body and drops the chunks not yet started. A nested call runs inline. */
  int32_t (*parallel_for)(const ferry_runtime_api* rt, int64_t n, int64_t grain, ferry_parallel_body body,
                          void* closure);
  /* The block of the kind, 64-byte aligned, as large as the manifest asked for; null when it asked for none. */
  void* (*workspace)(const ferry_runtime_api* rt, int32_t kind);
  /* Text for the person who started the kernel; need not end in a newline. */
  void (*print)(const ferry_runtime_api* rt, const char* bytes, size_t length);
  /* Later extensions by name; null when the runtime does not know the name. */
  void* (*query)(const ferry_runtime_api* rt, const char* name);
};

#ifdef __cplusplus
}
#endif

#endif
