#include "device-runtime/device/kernel_context.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace ferry::device {
namespace {

constexpr std::size_t kMaxPrinted = 64 << 10;

static_assert(offsetof(KernelContext, api) == 0, "kernels hand back the table's address");

const KernelContext& context_of(const ferry_runtime_api* rt) { return *reinterpret_cast<const KernelContext*>(rt); }

extern "C" {

static std::int32_t rt_parallel_for(const ferry_runtime_api* rt, std::int64_t n, std::int64_t grain,
                                    ferry_parallel_body body, void* closure) {
  return context_of(rt).pool->parallel_for(n, grain, body, closure);
}

static void* rt_workspace(const ferry_runtime_api* rt, std::int32_t kind) {
  const KernelContext& context = context_of(rt);
  if (kind == FERRY_WORKSPACE_CALL) return context.call_workspace;
  if (kind != FERRY_WORKSPACE_THREAD || context.thread_workspace_stride == 0) return nullptr;
  return context.thread_workspaces + context.thread_workspace_stride * ThreadPool::thread_index();
}

static void rt_print(const ferry_runtime_api* rt, const char* bytes, std::size_t length) {
  context_of(rt).printed->append(bytes, length);
}

static void* rt_query(const ferry_runtime_api*, const char*) { return nullptr; }

}  // extern "C"

}  // namespace

void PrintBuffer::append(const char* bytes, std::size_t length) {
  pthread_mutex_lock(&mutex_);
  if (tail_ != nullptr) tail_->append(bytes, length);
  if (length_ != nullptr) {
    const std::size_t begin = std::min<std::size_t>(length_->load(), memory_.size());
    const std::size_t count = std::min(length, memory_.size() - begin);
    std::memcpy(memory_.data() + begin, bytes, count);
    length_->store(static_cast<std::uint32_t>(begin + count));
    pthread_mutex_unlock(&mutex_);
    return;
  }
  const std::size_t room = kMaxPrinted - text_.size();
  text_.append(bytes, length < room ? length : room);
  overflowed_ = overflowed_ || length > room;
  pthread_mutex_unlock(&mutex_);
}

std::string PrintBuffer::take() {
  pthread_mutex_lock(&mutex_);
  std::string text = std::exchange(text_, {});
  const bool overflowed = std::exchange(overflowed_, false);
  pthread_mutex_unlock(&mutex_);
  if (overflowed) text += "\n(more was printed than is kept)\n";
  return text;
}

KernelContext make_kernel_context(ThreadPool& pool, PrintBuffer& printed) {
  return {{sizeof(ferry_runtime_api), FERRY_ABI_VERSION, rt_parallel_for, rt_workspace, rt_print, rt_query},
          &pool,
          &printed,
          nullptr,
          nullptr,
          0};
}

}  // namespace ferry::device
