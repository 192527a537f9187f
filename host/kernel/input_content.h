// The source of an input's elements: a file, a pattern, or random numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/fill.h"
#include "host/kernel/argument_spec.h"
#include "host/kernel/distribution.h"
#include "module/manifest.h"

namespace ferry {

// The contents of an input, reproducible on this side.
struct InputContent {
  FillKind kind = FillKind::random;
  std::uint64_t seed = 0;
  std::optional<Distribution> distribution;  // the bytes are drawn from it
  std::string file;                          // the bytes come from it
  std::vector<std::uint8_t> bytes;           // from a file or a distribution; otherwise empty

  // Whether the elements are random numbers, of whatever range.
  bool is_random() const { return file.empty() && kind == FillKind::random; }
};

// The range of random inputs whose contents nobody has described.
enum class InputRange : std::uint8_t {
  narrow,  // FillKind::random, small enough for every definition
  full,    // DistributionKind::full: a kernel may treat large numbers otherwise, as one that saturates does
};

// Returns what an input is drawn from: what was typed, or what the range says where no contents were. `spec` is null
// where nothing was typed.
std::optional<Distribution> distribution_of(const ParameterInfo& parameter, const ArgumentSpec* spec, InputRange range);

// Returns "from -32768 to 32767", "zeros", "from x.npy".
std::string content_text(const InputContent& content, DType dtype);

}  // namespace ferry
