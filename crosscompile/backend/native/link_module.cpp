#include "crosscompile/backend/native/link_module.h"

#include "base/hash_stream.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/link/inspect_object.h"
#include "crosscompile/link/link.h"
#include "crosscompile/link/object_set.h"
#include "crosscompile/link/padding.h"
#include "ferry/target/target.h"
#include "module/kernel_symbol.h"
#include "module/module_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace ferry {
namespace {

using Bytes = std::vector<std::uint8_t>;

ModuleFile read(std::span<const std::uint8_t> bytes) {
  Result<ModuleFile> module = read_module(bytes);
  if (!module.is_ok()) throw CompileError("the module to link: " + module.status().message());
  return std::move(module.value());
}

bool is_kernel(const std::string& symbol) {
  return symbol.starts_with(kSymbolPrefix) || symbol.starts_with(kInitSymbolPrefix);
}

void expect_defined(const Manifest& manifest, std::uint32_t device, const std::vector<std::string>& defined) {
  for (const FunctionInfo& function : manifest.functions) {
    for (const Plan* plan : {&function.plan, &function.init}) {
      for (const Step& step : plan->steps) {
        const auto* call = std::get_if<CallStep>(&step);
        if (call == nullptr || call->device != device) continue;
        if (std::ranges::find(defined, call->symbol) == defined.end())
          throw CompileError("the module to link: expected objects that define '" + call->symbol + "', which '" +
                             function.name + "' calls, got none");
      }
    }
  }
}

Bytes link_image(const Manifest& manifest, const CodeImage& image, const CodeLayout& layout) {
  const link::ObjectSet set = link::unpack(image.bytes);
  if (image.device >= manifest.devices.size() || manifest.devices[image.device].arch.empty())
    throw CompileError("the module to link: expected objects of a CPU, got some of another device");
  Target target;
  target.set_arch(manifest.devices[image.device].arch);
  std::vector<std::string> exports;
  for (const Bytes& object : set.objects)
    for (const std::string& symbol : link::inspect_object(object, "the module to link", target).functions)
      if (is_kernel(symbol)) exports.push_back(symbol);
  expect_defined(manifest, image.device, exports);
  return link::link_shared(set.objects, target, exports, set.user_objects, layout);
}

template <class Header, class Segment>
void add_loaded(HashStream& hash, std::span<const std::uint8_t> image) {
  const auto refuse = [] { throw CompileError("the module: expected an image that devices load, got a damaged one"); };
  const auto part = [&](std::uint64_t offset, std::uint64_t bytes) {
    if (offset > image.size() || bytes > image.size() - offset) refuse();
    return image.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
  };
  Header header;
  std::memcpy(&header, part(0, sizeof header).data(), sizeof header);
  if (header.e_phentsize != sizeof(Segment)) refuse();
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Segment segment;
    const auto entry = part(header.e_phoff + i * sizeof segment, sizeof segment);
    std::memcpy(&segment, entry.data(), sizeof segment);
    if (segment.p_type != PT_LOAD) continue;
    hash.add(entry);
    // The file's header says where the sections are, behind debug information.
    const std::uint64_t begin = std::max<std::uint64_t>(segment.p_offset, sizeof header);
    const std::uint64_t end = segment.p_offset + segment.p_filesz;
    if (end > begin) hash.add(part(begin, end - begin));
  }
}

Bytes hash_of_loaded(std::span<const std::uint8_t> image) {
  HashStream hash;
  const bool is_elf = image.size() > EI_CLASS && std::memcmp(image.data(), ELFMAG, SELFMAG) == 0;
  if (!is_elf)
    hash.add(image);
  else if (image[EI_CLASS] == ELFCLASS32)
    add_loaded<Elf32_Ehdr, Elf32_Phdr>(hash, image);
  else
    add_loaded<Elf64_Ehdr, Elf64_Phdr>(hash, image);
  const Hash digest = hash.finish();
  return {digest.begin(), digest.end()};
}

}  // namespace

std::vector<std::uint8_t> link_module(std::span<const std::uint8_t> bytes, const CodeLayout& layout) {
  link::check_layout(layout);
  ModuleFile module = read(bytes);
  bool is_linked = false;
  for (CodeImage& image : module.images) {
    if (image.kind != ImageKind::elf_objects) continue;
    image.bytes = link_image(module.manifest, image, layout);
    image.kind = ImageKind::elf;
    is_linked = true;
  }
  if (!is_linked)
    throw CompileError(std::string("the module to link: expected code of the kind '") +
                       image_kind_name(ImageKind::elf_objects) + "', got " +
                       (module.images.empty() ? "none" : "'" + module.images.front().name() + "'") +
                       ", whose layout is fixed");
  return write_module(module);
}

Hash code_identity(std::span<const std::uint8_t> bytes) {
  ModuleFile module = read(bytes);
  module.source.clear();
  module.schedule.clear();
  module.descriptions.clear();
  for (CodeImage& image : module.images) {
    if (image.kind == ImageKind::elf_objects) {
      image.bytes = link_image(module.manifest, image, {});
      image.kind = ImageKind::elf;
    }
    image.bytes = hash_of_loaded(image.bytes);
  }
  return blake2b(write_module(module));
}

}  // namespace ferry
