// Describes which boards a request may get: "rpi4", "arch=aarch64,memory>=2G,tag:bench", "cuda -arch=sm_90".
//
// A selector is a list of terms, separated by commas, all of which a board must satisfy:
//
//   NAME                     the board's name, its model, or one of its tags
//   KEY=TEXT, KEY!=TEXT      arch, cpu, feature, model or name
//   cores OP NUMBER          OP is one of = != >= <= > <
//   memory OP SIZE           in bytes, or with K, M, G or T (powers of 1024)
//   tag:KEY, tag:KEY=VALUE   the board has this tag
//   cuda, opencl             the board has such a device; with -arch=ARCH one of this architecture
//
// Kernels and graphics take a part of a board's memory, so a board of 2G reports less. Its memory counts as rounded up
// to the next quarter of the power of two below: 1.87G as 2G, 7.6G as 8G.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "farm/core/selector/board_description.h"

namespace ferry::farm {

enum class Comparison : std::uint8_t { equal, not_equal, at_least, at_most, more, less };

enum class TextKey : std::uint8_t { arch, cpu, feature, model, name };
enum class NumberKey : std::uint8_t { cores, memory };

struct NameTerm {
  std::string name;
  bool operator==(const NameTerm&) const = default;
};

struct TextTerm {
  TextKey key = TextKey::arch;
  bool is_equal = true;
  std::string text;
  bool operator==(const TextTerm&) const = default;
};

struct NumberTerm {
  NumberKey key = NumberKey::cores;
  Comparison comparison = Comparison::equal;
  std::uint64_t number = 0;
  bool operator==(const NumberTerm&) const = default;
};

struct TagTerm {
  std::string key;
  std::optional<std::string> value;  // nothing: any
  bool operator==(const TagTerm&) const = default;
};

struct DeviceTerm {
  std::string kind;
  std::string arch;  // empty: any
  bool operator==(const DeviceTerm&) const = default;
};

using Term = std::variant<NameTerm, TextTerm, NumberTerm, TagTerm, DeviceTerm>;

struct Selector {
  std::vector<Term> terms;  // at least one

  bool operator==(const Selector&) const = default;
};

inline constexpr std::size_t kMaxSelectorBytes = 1024;

// Fails with invalid_argument: what was expected, what there is instead, and at which character.
Result<Selector> parse_selector(std::string_view text);

bool matches(const Term& term, const BoardDescription& board);
bool matches(const Selector& selector, const BoardDescription& board);

// Returns the text from which parse_selector() makes the same term.
std::string to_text(const Term& term);
// Returns the canonical text: selectors that differ in the order or the repetition of terms, in spaces or in units have
// the same one.
std::string to_text(const Selector& selector);

// Says why none of the boards matches: "no board has arch=riscv64". Requires that none does.
std::string explain_no_match(const Selector& selector, const std::vector<const BoardDescription*>& boards);

}  // namespace ferry::farm
