// Tests the choice of the image for a GPU.
#include "device-runtime/cuda/cuda_image.h"

#include <doctest/doctest.h>

namespace ferry::device {
namespace {

std::string chosen(const std::vector<std::string>& kinds, unsigned architecture) {
  std::vector<CodeImage> images;
  for (const std::string& name : kinds) {
    std::string arch = name;
    const ImageKind kind = take_image_kind(arch);
    images.push_back({kind, {}, 0, arch});
  }
  const auto image = choose_cuda_image(images, architecture, "GPU");
  return image.is_ok() ? image.value()->name() : image.status().message();
}

TEST_CASE("the newest cubin of the GPU's own major capability is taken, PTX only without one") {
  const std::vector<std::string> all = {"opencl-c",    "ptx-sm_80",   "cubin-sm_80",
                                        "cubin-sm_86", "cubin-sm_90", "ptx-sm_90"};
  CHECK(chosen(all, 80) == "cubin-sm_80");
  CHECK(chosen(all, 86) == "cubin-sm_86");
  CHECK(chosen(all, 89) == "cubin-sm_86");
  CHECK(chosen(all, 90) == "cubin-sm_90");
  CHECK(chosen(all, 100) == "ptx-sm_90");
  CHECK(chosen(all, 120) == "ptx-sm_90");
  CHECK(chosen({"cubin-sm_100", "ptx"}, 100) == "cubin-sm_100");
  CHECK(chosen({"cubin-sm_100", "ptx"}, 90) == "ptx");
}

TEST_CASE("code for one GPU alone is taken by it alone, and before the rest") {
  CHECK(chosen({"cubin-sm_90", "cubin-sm_90a", "ptx-sm_90"}, 90) == "cubin-sm_90a");
  CHECK(chosen({"ptx-sm_80", "ptx-sm_90a"}, 90) == "ptx-sm_90a");
  CHECK(chosen({"ptx-sm_80", "ptx-sm_90a"}, 100) == "ptx-sm_80");
}

TEST_CASE("without a fitting image the refusal says what there is and what to do") {
  CHECK(
      chosen({"cubin-sm_80", "ptx-sm_100"}, 90) ==
      "this module has no code for this GPU: it has cubin-sm_80, ptx-sm_100; 'GPU' runs cubin-sm_90, or PTX for it or "
      "an older one: compile with --target 'cuda -arch=sm_90'");
  CHECK(chosen({}, 75).find("it has none; 'GPU' runs cubin-sm_75") != std::string::npos);
  CHECK(chosen({"cubin-", "cubin-sm_", "ptx-", "ptx-90", "cubinsm_90"}, 90).find("no code for this GPU") !=
        std::string::npos);
}

}  // namespace
}  // namespace ferry::device
