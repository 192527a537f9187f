// Streams and events: all operations share one queue.
#include <chrono>
#include <cstring>

#include "tests/support/fake_cuda/fake.h"

namespace ferry::fake {
namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

CuResult later(std::function<void()> work) {
  if (const CuResult error = ready(); error != kCuSuccess) return error;
  state().queue.push_back(std::move(work));
  return kCuSuccess;
}

void run_one() {
  auto work = std::move(state().queue.front());
  state().queue.pop_front();
  if (state().broken == kCuSuccess) work();
}

Event* event_of(CuEvent event) { return reinterpret_cast<Event*>(event); }

}  // namespace

void run_queue() {
  while (!state().queue.empty()) run_one();
}

}  // namespace ferry::fake

using namespace ferry::fake;

FERRY_FAKE_API cuMemcpyHtoDAsync_v2(CuDevicePointer to, const void* from, std::size_t bytes, CuStream) {
  return later([=] {
    if (void* place = real(to, bytes)) std::memcpy(place, from, bytes);
  });
}

FERRY_FAKE_API cuMemcpyDtoHAsync_v2(void* to, CuDevicePointer from, std::size_t bytes, CuStream) {
  return later([=] {
    if (const void* place = real(from, bytes)) std::memcpy(to, place, bytes);
  });
}

FERRY_FAKE_API cuMemcpyDtoDAsync_v2(CuDevicePointer to, CuDevicePointer from, std::size_t bytes, CuStream) {
  return later([=] {
    void* into = real(to, bytes);
    const void* place = real(from, bytes);
    // Copies forward byte by byte, so that overlapping ranges give a wrong result, unlike with memmove.
    for (std::size_t i = 0; into != nullptr && place != nullptr && i < bytes; ++i) {
      static_cast<char*>(into)[i] = static_cast<const char*>(place)[i];
    }
  });
}

FERRY_FAKE_API cuMemsetD8Async(CuDevicePointer to, unsigned char byte, std::size_t bytes, CuStream) {
  return later([=] {
    if (void* place = real(to, bytes)) std::memset(place, byte, bytes);
  });
}

FERRY_FAKE_API cuMemsetD16Async(CuDevicePointer to, unsigned short half, std::size_t count, CuStream) {
  return later([=] {
    auto* place = static_cast<unsigned short*>(real(to, count * sizeof half));
    for (std::size_t i = 0; place != nullptr && i < count; ++i) place[i] = half;
  });
}

FERRY_FAKE_API cuMemsetD32Async(CuDevicePointer to, unsigned word, std::size_t count, CuStream) {
  return later([=] {
    auto* place = static_cast<unsigned*>(real(to, count * sizeof word));
    for (std::size_t i = 0; place != nullptr && i < count; ++i) place[i] = word;
  });
}

FERRY_FAKE_API cuStreamCreate(CuStream* stream, unsigned) {
  *stream = reinterpret_cast<CuStream>(&state());
  return ready();
}

FERRY_FAKE_API cuStreamDestroy_v2(CuStream) {
  run_queue();
  return ready();
}

FERRY_FAKE_API cuStreamSynchronize(CuStream) {
  run_queue();
  return ready();
}

FERRY_FAKE_API cuEventCreate(CuEvent* event, unsigned) {
  *event = reinterpret_cast<CuEvent>(new Event);
  return ready();
}

FERRY_FAKE_API cuEventDestroy_v2(CuEvent event) {
  run_queue();
  delete event_of(event);
  return ready();
}

FERRY_FAKE_API cuEventRecord(CuEvent event, CuStream) {
  event_of(event)->is_pending = true;
  return later([=] {
    event_of(event)->is_pending = false;
    event_of(event)->milliseconds = now_ms();
  });
}

FERRY_FAKE_API cuEventSynchronize(CuEvent event) {
  while (event_of(event)->is_pending && !state().queue.empty()) run_one();
  return ready();
}

FERRY_FAKE_API cuEventElapsedTime(float* milliseconds, CuEvent from, CuEvent to) {
  *milliseconds = static_cast<float>(event_of(to)->milliseconds - event_of(from)->milliseconds);
  return ready();
}
