// A launch says with which grid of which blocks a kernel in CUDA C runs:
//
//     grid = (ceildiv(n, 16), ceildiv(m, 16)), block = (16, 16), shared = 16 * 16 * 4
//
// One to three extents along x, y and z, each an expression over the sizes of the kernel's signature, and the bytes of
// dynamic shared memory, which may be missing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "module/manifest.h"

namespace ferry::foreign {

struct KernelLaunch {
  std::array<ManifestExpr, 3> grid, block;  // without code along axes that are not given
  ManifestExpr shared;                      // without code: none
  std::string text;                         // as the user wrote it
};

// The numbers of a launch for known sizes.
struct LaunchExtents {
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t shared_bytes = 0;
};

// Returns where the launch begins behind a signature: "f(in f32[n] x) grid=n, block=1"; npos if there is none.
std::size_t launch_in(std::string_view signature);

// Throws CompileError with a caret below the column, and what was expected there.
KernelLaunch parse_launch(std::string_view text, const FunctionInfo& function);

// Adds the conditions under which CUDA takes the launch. So nobody launches anything that a GPU refuses: whoever
// checks a call's sizes checks these. An empty grid is allowed only for a call whose results have no elements.
void add_launch_conditions(const KernelLaunch& launch, FunctionInfo& function);

// Checks the launch for these sizes, which the function's conditions have admitted, and returns its extents. Throws
// CompileError.
LaunchExtents launch_extents(const KernelLaunch& launch, const FunctionInfo& function,
                             std::span<const std::int64_t> symbols);

}  // namespace ferry::foreign
