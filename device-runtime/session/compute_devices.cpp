#include "device-runtime/session/compute_devices.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/format.h"
#include "device-runtime/cuda/cuda_device.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/opencl/opencl_device.h"

namespace ferry::device {
namespace {

constexpr std::int64_t kDriverLoadTimeoutNs = 10'000'000'000;
constexpr std::size_t kMaxDevices = 16;
constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxReason = 256;

// The probing process's report about one device, or about a kind without devices.
struct ProbeRecord {
  char kind[16];
  char name[kMaxName];
  char arch[16];
  char why_none[kMaxReason];
  std::uint64_t memory_bytes;
};

template <std::size_t N>
void put(char (&into)[N], const std::string& text) {
  std::strncpy(into, text.c_str(), N - 1);
}

// The structure is smaller than the atomic write size of a pipe.
void write_record(int into, const ProbeRecord& record) {
  [[maybe_unused]] const ssize_t written = write(into, &record, sizeof record);
}

void write_kind(int into, DeviceKind kind, const Result<std::vector<ComputeDevice>>& devices) {
  if (!devices.is_ok()) {
    ProbeRecord record{};
    put(record.kind, device_kind_name(kind));
    put(record.why_none, devices.status().message());
    return write_record(into, record);
  }
  for (const ComputeDevice& device : devices.value()) {
    ProbeRecord record{};
    put(record.kind, device_kind_name(kind));
    put(record.name, device.name);
    put(record.arch, device.arch);
    record.memory_bytes = device.memory_bytes;
    write_record(into, record);
  }
}

[[noreturn]] void probe_and_report(const Drivers& drivers, int into) {
  // Drivers may print anything.
  if (const int nothing = open("/dev/null", O_RDWR); nothing >= 0) {
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
  }
  write_kind(into, DeviceKind::cuda, list_cuda_devices(drivers));
  write_kind(into, DeviceKind::opencl, list_opencl_devices(drivers));
  _exit(0);
}

bool receive(int from, ProbeRecord& record, std::int64_t end_ns) {
  std::size_t done = 0;
  while (done < sizeof record) {
    const std::int64_t left = end_ns - now_ns();
    pollfd entry{from, POLLIN, 0};
    if (left <= 0 || poll(&entry, 1, static_cast<int>(left / 1'000'000) + 1) <= 0) return false;
    const ssize_t count = read(from, reinterpret_cast<char*>(&record) + done, sizeof record - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  record.kind[sizeof record.kind - 1] = record.arch[sizeof record.arch - 1] = '\0';
  record.name[kMaxName - 1] = record.why_none[kMaxReason - 1] = '\0';
  return true;
}

// Whether the variable's value is one of the folders that FERRY_GPU_FOLDERS names.
bool names_more_folder(const char* variable) {
  const char *const value = std::getenv(variable), *const folders = std::getenv("FERRY_GPU_FOLDERS");
  if (value == nullptr || folders == nullptr) return false;
  return (":" + std::string(folders) + ":").find(":" + std::string(value) + ":") != std::string::npos;
}

}  // namespace

void keep_drivers_files_in(const std::string& folder) {
  if (folder.empty()) return;
  for (const char* variable : {"XDG_CACHE_HOME", "TMPDIR"}) setenv(variable, folder.c_str(), 1);
  for (const char* variable : {"CUDA_CACHE_PATH", "POCL_CACHE_DIR"})
    setenv(variable, folder.c_str(), names_more_folder(variable) ? 0 : 1);
}

std::vector<ProbedDevice> probe_devices(const Drivers& drivers) {
  std::vector<ProbedDevice> devices;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return devices;
  const pid_t child = fork();
  if (child == 0) probe_and_report(drivers, ends[1]);
  close(ends[1]);
  const std::int64_t end_ns = now_ns() + kDriverLoadTimeoutNs;
  ProbeRecord record;
  while (child > 0 && devices.size() < kMaxDevices && receive(ends[0], record, end_ns)) {
    devices.push_back({{record.kind, record.name, record.memory_bytes, record.arch}, record.why_none});
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
