#include "device-runtime/session/compute_devices.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/format.h"
#include "device-runtime/cuda/cuda_device.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/opencl/opencl_device.h"

namespace ferry::device {
namespace {

constexpr std::int64_t kPatienceNs = 10'000'000'000;
constexpr std::size_t kMaxDevices = 16;
constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxReason = 256;

// The probing process's report about one device, or about a kind without devices.
struct Told {
  char kind[16];
  char name[kMaxName];
  char why_none[kMaxReason];
  std::uint64_t memory_bytes;
};

template <std::size_t N>
void put(char (&into)[N], const std::string& text) {
  std::strncpy(into, text.c_str(), N - 1);
}

// The structure is smaller than the atomic write size of a pipe.
void tell(int into, const Told& told) { [[maybe_unused]] const ssize_t written = write(into, &told, sizeof told); }

void tell_kind(int into, DeviceKind kind, const Result<std::vector<ComputeDevice>>& devices) {
  if (!devices.is_ok()) {
    Told told{};
    put(told.kind, device_kind_name(kind));
    put(told.why_none, devices.status().message());
    return tell(into, told);
  }
  for (const ComputeDevice& device : devices.value()) {
    Told told{};
    put(told.kind, device_kind_name(kind));
    put(told.name, device.name);
    told.memory_bytes = device.memory_bytes;
    tell(into, told);
  }
}

[[noreturn]] void tell_devices(const Drivers& drivers, int into) {
  // Drivers may print anything.
  if (const int nothing = open("/dev/null", O_RDWR); nothing >= 0) {
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
  }
  tell_kind(into, DeviceKind::cuda, list_cuda_devices(drivers));
  tell_kind(into, DeviceKind::opencl, list_opencl_devices(drivers));
  _exit(0);
}

bool receive(int from, Told& told, std::int64_t end_ns) {
  std::size_t done = 0;
  while (done < sizeof told) {
    const std::int64_t left = end_ns - now_ns();
    pollfd entry{from, POLLIN, 0};
    if (left <= 0 || poll(&entry, 1, static_cast<int>(left / 1'000'000) + 1) <= 0) return false;
    const ssize_t count = read(from, reinterpret_cast<char*>(&told) + done, sizeof told - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  told.kind[sizeof told.kind - 1] = told.name[kMaxName - 1] = told.why_none[kMaxReason - 1] = '\0';
  return true;
}

}  // namespace

std::vector<ProbedDevice> probe_devices(const Drivers& drivers) {
  std::vector<ProbedDevice> devices;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return devices;
  const pid_t child = fork();
  if (child == 0) tell_devices(drivers, ends[1]);
  close(ends[1]);
  const std::int64_t end_ns = now_ns() + kPatienceNs;
  Told told;
  while (child > 0 && devices.size() < kMaxDevices && receive(ends[0], told, end_ns)) {
    devices.push_back({{told.kind, told.name, told.memory_bytes}, told.why_none});
  }
  close(ends[0]);
  if (child > 0) {
    kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return devices;
}

Result<std::unique_ptr<Device>> open_device(const Drivers& drivers, const DeviceId& id, MemoryBudget& budget) {
  switch (id.kind) {
    case DeviceKind::cuda: {
      FERRY_ASSIGN(auto device, CudaDevice::open(drivers, id.index));
      return std::unique_ptr<Device>(std::move(device));
    }
    case DeviceKind::opencl: {
      FERRY_ASSIGN(auto device, OpenClDevice::open(drivers, id.index, budget));
      return std::unique_ptr<Device>(std::move(device));
    }
    case DeviceKind::cpu: break;
  }
  return Status(ErrorCode::unsupported, "this server has no device '" + to_text(id) + "'");
}

}  // namespace ferry::device
