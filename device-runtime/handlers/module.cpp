#include "device-runtime/handlers/module.h"

#include <algorithm>

#include "rpc/abi/runtime_api.h"
#include "rpc/base/format.h"

namespace ferry::device {
namespace {

// Features that name the same kind of thing, best last: a refusal shows what the device has of them.
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

Status check_fits(const Manifest& manifest, const DeviceFacts& facts) {
  const auto unsupported = [](std::string message) { return Status(ErrorCode::unsupported, std::move(message)); };
  if (manifest.abi_version == 0 || manifest.abi_version > FERRY_ABI_VERSION) {
    return {ErrorCode::version_mismatch, format("this module needs version %u of the kernel interface; this server has "
                                                "version %u",
                                                manifest.abi_version, unsigned{FERRY_ABI_VERSION})};
  }
  if (manifest.arch != facts.arch) {
    return unsupported("this module is for " + manifest.arch + "; the device is " + facts.arch);
  }
  for (const std::string& feature : manifest.features) {
    if (!std::binary_search(facts.features.begin(), facts.features.end(), feature)) {
      return unsupported("this module needs " + feature + "; the device has " +
                         closest_features(feature, facts.features));
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Module>> load_module(std::span<const std::uint8_t> file, const Hash& hash,
                                            const DeviceFacts& facts, Device& device) {
  FERRY_ASSIGN(ModuleFile contents, read_module(file));
  FERRY_TRY(check_fits(contents.manifest, facts));
  auto module = std::make_unique<Module>();
  FERRY_ASSIGN(module->program, device.load(contents, hash));
  module->hash = hash;
  module->file_bytes = file.size();
  module->manifest = std::move(contents.manifest);
  return module;
}

}  // namespace ferry::device
