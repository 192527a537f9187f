// The fake GPU's management library, which always returns the same values.
#include <cstring>

#define FERRY_FAKE_API extern "C" [[gnu::visibility("default")]] int

namespace {
constexpr int kSuccess = 0, kNotFound = 6;
}

FERRY_FAKE_API nvmlInit_v2() { return kSuccess; }
FERRY_FAKE_API nvmlShutdown() { return kSuccess; }
FERRY_FAKE_API nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  static char only;
  *device = &only;
  return std::strcmp(bus_id, "0000:01:00.0") == 0 ? kSuccess : kNotFound;
}
FERRY_FAKE_API nvmlDeviceGetClockInfo(void*, int kind, unsigned* megahertz) {
  *megahertz = kind == 1 ? 1755 : 2619;
  return kSuccess;
}
FERRY_FAKE_API nvmlDeviceGetMaxClockInfo(void*, int kind, unsigned* megahertz) {
  *megahertz = kind == 1 ? 1980 : 2619;
  return kSuccess;
}
FERRY_FAKE_API nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  *celsius = 41;
  return kSuccess;
}
FERRY_FAKE_API nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 123456;
  return kSuccess;
}
FERRY_FAKE_API nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 4;
  return kSuccess;
}
