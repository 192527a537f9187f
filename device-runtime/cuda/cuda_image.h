// Selects the image of a module that a GPU runs.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "module/module_file.h"

namespace ferry::device {

// Images are named cubin-sm_90, ptx-sm_80 or ptx. A GPU of compute capability 9.0 runs cubins of 9.x with no larger x,
// those for exactly sm_90a, and PTX of any capability up to its own (CUDA Programming Guide, "Application
// compatibility"). Cubins are preferred to PTX, and newer images to older ones. `architecture` is 90 for sm_90. Fails
// with unsupported, with the list of the module's images, if none fits.
Result<const CodeImage*> choose_cuda_image(const std::vector<CodeImage>& images, unsigned architecture,
                                           const std::string& device_name);

}  // namespace ferry::device
