#include "device-runtime/cuda/cuda_image.h"

#include <cstdlib>

#include "base/format.h"

namespace ferry::device {
namespace {

struct Kind {
  bool is_cuda = false;
  bool is_ptx = false;
  bool is_exact = false;      // sm_90a: runs only on exactly this architecture
  unsigned architecture = 0;  // 0: PTX that does not state its architecture
};

Kind parse(const std::string& name) {
  Kind kind;
  std::string rest;
  if (name.compare(0, 6, "cubin-") == 0) {
    rest = name.substr(6);
  } else if (name == "ptx" || name.compare(0, 4, "ptx-") == 0) {
    kind.is_ptx = true;
    if (name == "ptx") kind.is_cuda = true;
    rest = name.size() > 4 ? name.substr(4) : "";
  }
  if (rest.compare(0, 3, "sm_") != 0) return kind;
  char* end = nullptr;
  kind.architecture = static_cast<unsigned>(std::strtoul(rest.c_str() + 3, &end, 10));
  kind.is_exact = *end == 'a';
  kind.is_cuda = kind.architecture != 0;
  return kind;
}

bool fits(const Kind& kind, unsigned architecture) {
  if (kind.is_exact) return kind.architecture == architecture;
  if (kind.is_ptx) return kind.architecture <= architecture;
  return kind.architecture / 10 == architecture / 10 && kind.architecture <= architecture;
}

// A larger rank is preferred.
unsigned rank(const Kind& kind) {
  return (kind.is_ptx ? 0 : 1U << 20) + 2 * kind.architecture + (kind.is_exact ? 1 : 0);
}

}  // namespace

Result<const CodeImage*> choose_cuda_image(const std::vector<CodeImage>& images, unsigned architecture,
                                           const std::string& device_name) {
  const CodeImage* best = nullptr;
  std::string has;
  for (const CodeImage& image : images) {
    const Kind kind = parse(image.kind);
    has += (has.empty() ? "" : ", ") + image.kind;
    if (!kind.is_cuda || !fits(kind, architecture)) continue;
    if (best == nullptr || rank(kind) > rank(parse(best->kind))) best = &image;
  }
  if (best != nullptr) return best;
  return Status(
      ErrorCode::unsupported,
      format("this module has no code for this GPU: it has %s; '%s' runs cubin-sm_%u, or PTX for it or an older "
             "one: compile with --target 'cuda -arch=sm_%u'",
             has.empty() ? "none" : has.c_str(), device_name.c_str(), architecture, architecture));
}

}  // namespace ferry::device
