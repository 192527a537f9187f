#include "device-runtime/handlers/module.h"

#include <algorithm>

#include "base/format.h"
#include "ferry/runtime_api.h"

namespace ferry::device {
namespace {

// Returns the device's features whose names begin like the missing one, or all of them; a refusal lists them.
std::string closest_features(const std::string& missing, const std::vector<std::string>& features) {
  std::string found;
  const std::string stem = missing.substr(0, 3);
  for (const std::string& feature : features) {
    if (feature.compare(0, 3, stem) == 0) found += (found.empty() ? "" : ", ") + feature;
  }
  if (!found.empty()) return found;
  for (const std::string& feature : features) found += (found.empty() ? "" : ", ") + feature;
  return found.empty() ? "none of the optional features" : found;
}

Status unsupported(std::string message) { return {ErrorCode::unsupported, std::move(message)}; }

Status check_version(const Manifest& manifest) {
  if (manifest.abi_version == 0 || manifest.abi_version > FERRY_ABI_VERSION) {
    return {ErrorCode::version_mismatch, format("this module needs version %u of the kernel interface; this server has "
                                                "version %u",
                                                manifest.abi_version, unsigned{FERRY_ABI_VERSION})};
  }
  return {};
}

Status check_fits_cpu(const ModuleDevice& needed, const DeviceFacts& facts) {
  for (const std::string& feature : needed.features) {
    if (!std::binary_search(facts.features.begin(), facts.features.end(), feature)) {
      return unsupported("this module needs " + feature + "; the device has " +
                         closest_features(feature, facts.features));
    }
  }
  return {};
}

// Refuses modules that the format allows but this server cannot run.
Status check_runs_here(const Manifest& manifest) {
  if (manifest.devices.size() > 1) return unsupported("this server runs no modules for several devices");
  return {};
}

Result<Device*> find_device(const ModuleDevice& needed, const DeviceFacts& facts,
                            std::span<const std::unique_ptr<Device>> devices) {
  const std::string& name = device_name(needed);
  if (needed.kind == "cpu") {
    if (needed.arch != facts.arch) return unsupported("this module is for " + name + "; the device is " + facts.arch);
    FERRY_TRY(check_fits_cpu(needed, facts));
    return devices.front().get();
  }
  for (const auto& device : devices.subspan(1)) {
    if (device->describe().kind == needed.kind) return device.get();
  }
  for (const ComputeDevice& device : facts.devices) {
    if (device.kind == needed.kind)
      return unsupported("this module is for " + name + ", which the client did not ask for as it opened the session");
  }
  return unsupported("this module is for " + name + "; the device is " + facts.arch);
}

}  // namespace

Result<std::unique_ptr<Module>> load_module(std::span<const std::uint8_t> file, const Hash& hash,
                                            const DeviceFacts& facts,
                                            std::span<const std::unique_ptr<Device>> devices) {
  FERRY_ASSIGN(ModuleFile contents, read_module(file));
  FERRY_TRY(check_version(contents.manifest));
  auto module = std::make_unique<Module>();
  FERRY_TRY(check_runs_here(contents.manifest));
  FERRY_ASSIGN(module->device, find_device(contents.manifest.devices.front(), facts, devices));
  FERRY_ASSIGN(module->program, module->device->load(contents, hash));
  module->hash = hash;
  module->file_bytes = file.size();
  module->manifest = std::move(contents.manifest);
  module->kept_calls.resize(module->manifest.functions.size());
  return module;
}

}  // namespace ferry::device
