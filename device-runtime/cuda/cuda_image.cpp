#include "device-runtime/cuda/cuda_image.h"

#include <cstdlib>

#include "base/format.h"

namespace ferry::device {
namespace {

struct GpuCode {
  bool is_cuda = false;
  bool is_ptx = false;
  bool is_exact = false;      // sm_90a: runs only on exactly this architecture
  unsigned architecture = 0;  // 0: PTX that does not state its architecture
};

GpuCode code_of(const CodeImage& image) {
  GpuCode code;
  code.is_ptx = image.kind == ImageKind::ptx;
  if (!code.is_ptx && image.kind != ImageKind::cubin) return code;
  code.is_cuda = code.is_ptx && image.arch.empty();
  if (image.arch.compare(0, 3, "sm_") != 0) return code;
  char* end = nullptr;
  code.architecture = static_cast<unsigned>(std::strtoul(image.arch.c_str() + 3, &end, 10));
  code.is_exact = *end == 'a';
  code.is_cuda = code.architecture != 0;
  return code;
}

bool fits(const GpuCode& code, unsigned architecture) {
  if (code.is_exact) return code.architecture == architecture;
  if (code.is_ptx) return code.architecture <= architecture;
  return code.architecture / 10 == architecture / 10 && code.architecture <= architecture;
}

// A larger rank is preferred.
unsigned rank(const GpuCode& code) {
  return (code.is_ptx ? 0 : 1U << 20) + 2 * code.architecture + (code.is_exact ? 1 : 0);
}

}  // namespace

Result<const CodeImage*> choose_cuda_image(const std::vector<CodeImage>& images, unsigned architecture,
                                           const std::string& device_name) {
  const CodeImage* best = nullptr;
  std::string has;
  for (const CodeImage& image : images) {
    const GpuCode code = code_of(image);
    has += (has.empty() ? "" : ", ") + image.name();
    if (!code.is_cuda || !fits(code, architecture)) continue;
    if (best == nullptr || rank(code) > rank(code_of(*best))) best = &image;
  }
  if (best != nullptr) return best;
  return Status(
      ErrorCode::unsupported,
      format("this module has no code for this GPU: it has %s; '%s' runs cubin-sm_%u, or PTX for it or an older "
             "one: compile with --target 'cuda -arch=sm_%u'",
             has.empty() ? "none" : has.c_str(), device_name.c_str(), architecture, architecture));
}

}  // namespace ferry::device
