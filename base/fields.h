// A record that crosses a border (wire, JSON, table, database) names its fields once, and visitors do the rest:
//
//   struct Waiting {
//     std::uint64_t lease = 0;
//     std::optional<std::uint64_t> estimate_ms;
//     std::string why;
//
//     FERRY_FIELDS((lease, kLeaseId), (estimate_ms, kSpan), (why, kText));
//   };
//
// An entry is a member and, unless its type says all, its kind: a constant of one of the types below, which has unit
// and limit. The order is that of the wire.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

// Defines visit_fields(record, visit), which calls visit(name, member[, kind]) for each field. C++20 has no other way
// to repeat a macro: each scan of FERRY_RESCAN goes on with four times as many entries.
#define FERRY_FIELDS(...)                                                                               \
  template <class Record, class Visit>                                                                  \
  static constexpr void visit_fields([[maybe_unused]] Record& record, [[maybe_unused]] Visit&& visit) { \
    __VA_OPT__(FERRY_RESCAN(FERRY_VISIT_FIRST(__VA_ARGS__)))                                            \
  }
#define FERRY_VISIT_FIRST(entry, ...) \
  FERRY_VISIT_FIELD entry __VA_OPT__(FERRY_VISIT_REST FERRY_NO_ARGUMENTS(__VA_ARGS__))
#define FERRY_VISIT_REST() FERRY_VISIT_FIRST
#define FERRY_VISIT_FIELD(member, ...) visit(std::string_view(#member), record.member __VA_OPT__(, ) __VA_ARGS__);
#define FERRY_NO_ARGUMENTS ()
#define FERRY_RESCAN(...) FERRY_RESCAN_3(FERRY_RESCAN_3(FERRY_RESCAN_3(FERRY_RESCAN_3(__VA_ARGS__))))
#define FERRY_RESCAN_3(...) FERRY_RESCAN_2(FERRY_RESCAN_2(FERRY_RESCAN_2(FERRY_RESCAN_2(__VA_ARGS__))))
#define FERRY_RESCAN_2(...) __VA_ARGS__

namespace ferry {

namespace fields {

// Each text or list states how much of it a receiver accepts, and so takes memory for.
struct Text {
  std::size_t most;          // in bytes
  bool is_optional = false;  // whoever writes the record in JSON may leave it out
};
struct Texts {
  std::size_t most, most_bytes;  // texts, and bytes of each
};
struct List {
  std::size_t most;  // numbers, hashes or bytes
};
// A struct, and a list of them. On the wire each has its length in front, so that fields may be added at its end.
struct Nested {};
struct NestedList {
  std::size_t most;
};
// A list of records with a name and a value, which are an object in JSON.
struct Labels : NestedList {};
// An array of fixed length.
struct Bytes {};
// A number of 64 bits that means nothing but which one it is, 0 for none.
struct Id {};
// An enumerator that people know by a word: kWords is an array of Word.
template <const auto& kWords>
struct Worded {};

// A field that was added at the end of a struct that has its length in front: where an older peer's struct ends before
// it, it keeps its value.
template <class Kind>
struct Added {
  Kind kind;
};
template <class Kind>
Added(Kind) -> Added<Kind>;

// The column of a table, where it is not called like the field.
struct Column {
  std::string_view name;
};

// A number whose unit is the end of its name, and what it is for programs and people outside of C++: the name ends in
// `shown` in place of `suffix`, and the number is divided by `divisor`.
struct Quantity {
  enum class Print : unsigned char { span, time, seconds, celsius, decimal };
  Print print;
  std::string_view suffix, shown;
  double divisor;
};
inline constexpr Nested kNested;
inline constexpr Quantity kSpan{Quantity::Print::span, "_ms", "_seconds", 1e3};
inline constexpr Quantity kTime{Quantity::Print::time, "_ms", "", 1e3};  // since 1970, in UTC
inline constexpr Quantity kPicoseconds{Quantity::Print::seconds, "picoseconds", "seconds", 1e12};
inline constexpr Quantity kMillidegrees{Quantity::Print::celsius, "millidegrees", "celsius", 1e3};
inline constexpr Quantity kPermille{Quantity::Print::decimal, "_permille", "", 1e3};

struct IgnoreField {
  constexpr void operator()(auto&&...) const {}
};

}  // namespace fields

template <class T>
concept HasFields = requires(T& record) { T::visit_fields(record, fields::IgnoreField{}); };

// What people call an enumerator.
template <class E>
struct Word {
  std::string_view text;
  E value;
};
template <class Words, class E>
constexpr bool has_word(const Words& words, E value) {
  for (const auto& word : words)
    if (word.value == value) return true;
  return false;
}
template <class Words, class E>
constexpr std::string_view word_of(const Words& words, E value) {
  for (const auto& word : words)
    if (word.value == value) return word.text;
  return "unknown";
}

}  // namespace ferry
