// Names of the axes of windows.
#pragma once

#include <string>
#include <vector>

namespace ferry::ops {

// Returns the name of the reduction axis of each spatial dimension: kh and kw of images.
std::vector<std::string> kernel_axes(std::size_t spatial);

}  // namespace ferry::ops
