// Whether code relies on its tensors beginning at multiples of 64 bytes, as those of a device do. Arrays of a process
// begin anywhere: code for devices in it relies on the alignment of elements alone, and its target's text says so.
#pragma once

#include <string_view>

namespace ferry {

inline constexpr std::string_view kUnalignedTensors = "-unaligned-tensors";

// The flavour (ferry/device_facts.h) of a device whose tensors may be arrays of its process.
inline constexpr std::string_view kInProcessFlavour = "in-process";

// `target` is the text of a target, as in a manifest.
inline bool takes_unaligned_tensors(std::string_view target) {
  const std::size_t begin = target.find(kUnalignedTensors);
  if (begin == std::string_view::npos || begin == 0 || target[begin - 1] != ' ') return false;
  const std::size_t end = begin + kUnalignedTensors.size();
  return end == target.size() || target[end] == ' ';
}

}  // namespace ferry
