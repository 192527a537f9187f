#include "device-runtime/session/state/module.h"

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

// `taken` are the devices of the session that the module uses already.
Result<Device*> find_device(const ModuleDevice& needed, const DeviceFacts& facts,
                            std::span<const std::unique_ptr<Device>> devices, const std::vector<Device*>& taken) {
  const std::string& name = device_name(needed);
  if (needed.kind == "cpu") {
    if (needed.arch != facts.arch) return unsupported("this module is for " + name + "; the device is " + facts.arch);
    FERRY_TRY(check_fits_cpu(needed, facts));
  }
  bool has_kind = false;
  for (const auto& device : devices) {
    if (device->describe().kind != needed.kind) continue;
    if (std::find(taken.begin(), taken.end(), device.get()) == taken.end()) return device.get();
    has_kind = true;
  }
  if (has_kind)
    return unsupported("this module is for more devices of the kind " + needed.kind + " than the session has");
  for (const ComputeDevice& device : facts.devices) {
    if (device.kind == needed.kind)
      return unsupported("this module is for " + name + ", which the client did not ask for as it opened the session");
  }
  return unsupported("this module is for " + name + "; the device is " + facts.arch);
}

}  // namespace

std::string Module::take_printed() const {
  std::string printed;
  for (Device* device : devices) printed += device->take_printed();
  return printed;
}

Result<std::unique_ptr<Module>> load_module(std::span<const std::uint8_t> file, const Hash& hash,
                                            const DeviceFacts& facts, std::span<const std::unique_ptr<Device>> devices,
                                            JoinPrograms join) {
  FERRY_ASSIGN(ModuleFile contents, read_module(file));
  FERRY_TRY(check_version(contents.manifest));
  auto module = std::make_unique<Module>();
  const std::size_t count = contents.manifest.devices.size();
  if (count > 1 && join == nullptr) return unsupported("this server runs no modules for several devices");
  for (const ModuleDevice& needed : contents.manifest.devices) {
    FERRY_ASSIGN(module->devices.emplace_back(), find_device(needed, facts, devices, module->devices));
  }
  std::vector<CodeImage> images = std::move(contents.images);
  std::vector<std::unique_ptr<Program>> programs;
  for (std::size_t d = 0; d < count; ++d) {
    contents.images.clear();
    for (CodeImage& image : images)
      if (image.device == d) contents.images.push_back(std::move(image));
    FERRY_ASSIGN(programs.emplace_back(), module->devices[d]->load(contents, hash));
  }
  module->program = count == 1 ? std::move(programs.front()) : join(module->devices, std::move(programs));
  module->hash = hash;
  module->file_bytes = file.size();
  module->manifest = std::move(contents.manifest);
  module->kept_calls.resize(module->manifest.functions.size());
  return module;
}

}  // namespace ferry::device
