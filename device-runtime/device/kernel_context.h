// The runtime as a kernel on the CPU sees it: the function table of ferry/runtime_api.h, followed by the state of one
// call.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "device-runtime/device/print_tail.h"
#include "device-runtime/threads/thread_pool.h"
#include "ferry/runtime_api.h"

namespace ferry::device {

// Collects the text that kernels print from any of their threads. Text beyond a limit is dropped, and the loss is
// noted.
class PrintBuffer {
 public:
  PrintBuffer() = default;
  PrintBuffer(const PrintBuffer&) = delete;
  PrintBuffer& operator=(const PrintBuffer&) = delete;
  ~PrintBuffer() { pthread_mutex_destroy(&mutex_); }

  void append(const char* bytes, std::size_t length);
  std::string take();
  // From now on the text goes to this memory, which another process empties, and not to take(). `length` is how many
  // bytes are there.
  void use(std::span<char> memory, std::atomic<std::uint32_t>& length) {
    memory_ = memory;
    length_ = &length;
  }
  // Also appends everything to the tail.
  void set_tail(PrintTail* tail) { tail_ = tail; }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  std::string text_;
  bool overflowed_ = false;
  PrintTail* tail_ = nullptr;
  std::span<char> memory_;
  std::atomic<std::uint32_t>* length_ = nullptr;
};

struct KernelContext {
  ferry_runtime_api api;  // first member: kernels pass its address back
  ThreadPool* pool;
  PrintBuffer* printed;
  std::uint8_t* call_workspace;
  std::uint8_t* thread_workspaces;
  std::uint64_t thread_workspace_stride;  // bytes; 0 if the manifest requests no thread workspace
};

// Fills in every slot and sets no workspace.
KernelContext make_kernel_context(ThreadPool& pool, PrintBuffer& printed);

}  // namespace ferry::device
