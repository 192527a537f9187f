#include "host/kernel/inspect_module.h"

#include <algorithm>

#include "base/throw_status.h"
#include "ferry/hash.h"
#include "host/client/blobs/module_with_blobs.h"
#include "host/kernel/file.h"
#include "module/step_description.h"

namespace ferry {

namespace {

bool is_cubin(const CodeImage& image) { return image.kind == ImageKind::cubin; }
bool is_ptx(const CodeImage& image) { return image.kind == ImageKind::ptx; }

std::vector<CubinKernel> kernels_of(const CodeImage& image) {
  if (!is_cubin(image)) return {};
  Result<std::vector<CubinKernel>> kernels = cubin_kernels(image.bytes);
  return kernels.is_ok() ? std::move(kernels.value()) : std::vector<CubinKernel>();
}

}  // namespace

bool InspectedModule::lacks_ptx() const {
  return std::ranges::any_of(module.images, is_cubin) && std::ranges::none_of(module.images, is_ptx);
}

InspectedModule inspect_module(const std::string& file) {
  const bool is_file = is_module_file(file);
  const std::string content = is_file ? "" : read_file(file);
  if (!is_file && content.find('\0') == std::string::npos)
    throw UsageError(file + ": expected a compiled module, such as 'ferry compile " + file + "' makes, got a text");
  if (!is_file && !is_module(content)) throw UsageError(file + ": expected a .ferry module, got another kind of file");
  ModuleWithBlobs read;
  std::vector<StepDescription> steps;
  try {
    read = is_file ? read_module_file(file) : divide_module({content.begin(), content.end()});
    steps = value_or_throw(step_descriptions(read.module));
  } catch (const Error& error) {
    throw UsageError(file + ": " + error.what());
  }
  InspectedModule inspected{std::move(read.module), read.bytes.size(), to_hex(blake2b(read.bytes)),
                            read.blobs != nullptr,  std::move(steps),  {}};
  for (const CodeImage& image : inspected.module.images) inspected.kernels.push_back(kernels_of(image));
  return inspected;
}

}  // namespace ferry
