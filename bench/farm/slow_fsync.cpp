// Preloaded into a process whose disk is to be slow: every fsync takes FERRY_FSYNC_MS longer.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

namespace {

void delay() {
  static const long milliseconds = [] {
    const char* const text = std::getenv("FERRY_FSYNC_MS");
    return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  }();
  if (milliseconds > 0) usleep(static_cast<useconds_t>(milliseconds) * 1000);
}

int call_next(const char* name, int descriptor) {
  delay();
  return reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, name))(descriptor);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int fsync(int descriptor) { return call_next("fsync", descriptor); }
extern "C" [[gnu::visibility("default")]] int fdatasync(int descriptor) { return call_next("fdatasync", descriptor); }
