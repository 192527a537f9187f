// Copies of .ferry files with one byte changed, as by faulty memory or an attacker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "module/module_file.h"

namespace ferry::test {

inline std::vector<std::uint8_t> with_byte_changed(std::vector<std::uint8_t> file, std::size_t at, std::uint8_t flip) {
  file[at] ^= flip;
  return file;
}

// Recomputes the hash at the end of the file.
inline std::vector<std::uint8_t> rehashed(std::vector<std::uint8_t> file) {
  const std::size_t hashed = file.size() - sizeof(Hash);
  const Hash hash = blake2b(std::span(file).first(hashed));
  std::copy(hash.begin(), hash.end(), file.begin() + static_cast<std::ptrdiff_t>(hashed));
  return file;
}

// Returns all positions that a correct hash can cover, except those of machine code: any bytes are valid code.
inline std::vector<std::size_t> places_outside_code(const std::vector<std::uint8_t>& file) {
  std::vector<bool> is_code(file.size());
  const Result<ModuleFile> module = read_module(file);
  if (!module.is_ok()) return {};
  for (const CodeImage& image : module.value().images) {
    const auto first = std::search(file.begin(), file.end(), image.bytes.begin(), image.bytes.end());
    std::fill_n(is_code.begin() + (first - file.begin()), image.bytes.size(), true);
  }
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at + sizeof(Hash) < file.size(); ++at) {
    if (!is_code[at]) places.push_back(at);
  }
  return places;
}

}  // namespace ferry::test
