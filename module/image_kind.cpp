#include "module/image_kind.h"

#include <cstring>

namespace ferry {
namespace {

constexpr char kNames[][12] = {
#define X(enumerator, name) name,
    FERRY_IMAGE_KINDS(X)
#undef X
        ""};

bool has_arch(ImageKind kind) { return kind == ImageKind::cubin || kind == ImageKind::ptx; }

}  // namespace

const char* image_kind_name(ImageKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

ImageKind take_image_kind(std::string& name) {
  // Libraries had this name before all names were written alike.
  if (name == "elf_library") name[3] = '-';
  for (std::size_t i = 0; i < static_cast<std::size_t>(ImageKind::unknown); ++i) {
    const auto kind = static_cast<ImageKind>(i);
    const std::size_t length = strlen(kNames[i]);
    if (name.compare(0, length, kNames[i]) != 0) continue;
    const bool goes_on = has_arch(kind) && name.size() > length + 1 && name[length] == '-';
    if (!goes_on && (name.size() > length || kind == ImageKind::cubin)) continue;
    name.erase(0, length + (goes_on ? 1 : 0));
    return kind;
  }
  return ImageKind::unknown;
}

}  // namespace ferry
