// The common part of all runners: calls kernels on data from a file and writes back the resulting data.
#pragma once

#include "ferry/runtime_api.h"
#include "tests/unit/crosscompile/codegen/llvm/runner/runner_files.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace ferry::runner {

inline char current_call[256];

[[noreturn]] inline void die(const std::string& what) {
  std::fprintf(stderr, "runner: %s\n", what.c_str());
  std::exit(1);
}

inline void report_signal(int number) {
  char text[400];
  const int length = std::snprintf(text, sizeof text, "runner: signal %d in %s\n", number, current_call);
  if (write(2, text, static_cast<std::size_t>(length)) < 0) _exit(2);
  _exit(1);
}

#ifdef __SANITIZE_ADDRESS__
// AddressSanitizer checks accesses beyond its ends.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes)
      : data_(static_cast<char*>(::operator new(bytes == 0 ? 1 : bytes, std::align_val_t(64)))) {
    std::memset(data_, 0x5a, bytes);
  }
  ~Guarded() { ::operator delete(data_, std::align_val_t(64)); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  char* data() const { return data_; }
  bool is_intact() const { return true; }

 private:
  char* data_;
};
#else
// Memory that is 64-byte aligned and, rounded up to a multiple of 64, ends at an inaccessible page, so that reads far
// beyond the end are caught.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t rounded = (bytes + 63) / 64 * 64;
    mapped_ = (rounded + page - 1) / page * page + page;
    void* base = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) die("out of memory");
    base_ = static_cast<char*>(base);
    if (mprotect(base_ + mapped_ - page, page, PROT_NONE) != 0) die("mprotect failed");
    data_ = base_ + mapped_ - page - rounded;
    std::memset(base_, 0x5a, mapped_ - page);
    tail_ = data_ + bytes;
    tail_bytes_ = rounded - bytes;
  }
  ~Guarded() { munmap(base_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  char* data() const { return data_; }
  bool is_intact() const {
    return std::all_of(base_, data_, [](char c) { return c == 0x5a; }) &&
           std::all_of(tail_, tail_ + tail_bytes_, [](char c) { return c == 0x5a; });
  }

 private:
  char* base_;
  char* data_;
  char* tail_;
  std::size_t mapped_, tail_bytes_;
};
#endif

struct Runtime {
  ferry_runtime_api api;  // first, so that a pointer to it is also one to this struct
  void* blocks[2];
};

// Runs the last chunk first: kernels must not depend on the order.
inline int32_t parallel_for(const ferry_runtime_api*, int64_t n, int64_t grain, ferry_parallel_body body,
                            void* closure) {
  const int64_t piece = std::max(grain, (n + 2) / 3);
  for (int64_t begin = (n - 1) / piece * piece; begin >= 0; begin -= piece) {
    const int32_t result = body(begin, std::min(n, begin + piece), closure);
    if (result != 0) return result;
  }
  return 0;
}

inline void* workspace(const ferry_runtime_api* rt, int32_t kind) {
  return reinterpret_cast<const Runtime*>(rt)->blocks[kind];
}
inline void print(const ferry_runtime_api*, const char* bytes, size_t length) { std::fwrite(bytes, 1, length, stderr); }
inline void* query(const ferry_runtime_api*, const char*) { return nullptr; }

inline void run(ferry_kernel kernel, const Call& call, std::FILE* results) {
  std::vector<std::unique_ptr<Guarded>> memory;
  std::vector<void*> arguments;
  for (const std::vector<unsigned char>& bytes : call.arguments) {
    memory.push_back(std::make_unique<Guarded>(bytes.size()));
    std::copy(bytes.begin(), bytes.end(), memory.back()->data());
    arguments.push_back(memory.back()->data());
  }
  const Guarded call_block(call.call_workspace), thread_block(call.thread_workspace);
  const Runtime runtime{{sizeof(ferry_runtime_api), FERRY_ABI_VERSION, parallel_for, workspace, print, query},
                        {call_block.data(), thread_block.data()}};
  const int32_t result = kernel(arguments.data(), &runtime.api);
  std::fwrite(&result, sizeof result, 1, results);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (!memory[i]->is_intact()) die(call.symbol + " wrote outside argument " + std::to_string(i));
    std::fwrite(memory[i]->data(), 1, call.arguments[i].size(), results);
  }
  if (!call_block.is_intact() || !thread_block.is_intact()) die(call.symbol + " wrote outside its workspace");
}

// Runs the calls of a cases file; formats as in runner_files.h. `find` returns the kernel of a symbol.
template <class Find>
int run_all(const char* cases, const char* results_file, Find find) {
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) signal(number, report_signal);
  std::vector<Call> calls;
  if (!read_calls(cases, calls)) die(std::string("cannot read ") + cases);
  std::FILE* results = std::fopen(results_file, "wb");
  if (results == nullptr) die(std::string("cannot write ") + results_file);
  for (const Call& call : calls) {
    std::snprintf(current_call, sizeof current_call, "%s", call.symbol.c_str());
    run(find(call.symbol), call, results);
  }
  return std::fclose(results) == 0 ? 0 : 1;
}

}  // namespace ferry::runner
