#include "crosscompile/target/ptx_target.h"

namespace ferry {

Target ptx_target_like(const Target& cuda, const std::string& gpu, bool has_libdevice) {
  Target target = cuda;
  target.is_source = false;
  target.pass_groups = {.loops = true, .gpu = true};
  target.triple = "nvptx64-nvidia-cuda";
  target.cpu = gpu;
  target.gpus = {gpu};
  target.capabilities = capabilities_of(target);
  target.capabilities.math_library = has_libdevice;
  return target;
}

}  // namespace ferry
