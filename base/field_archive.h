// Encodes and decodes each record by its list of fields (base/fields.h). Include this header only where messages are
// encoded: cereal is slow to compile.
#pragma once

#include "base/archive.h"
#include "base/fields.h"

namespace ferry {

namespace fields {

inline LimitedText encoded(std::string& value, Text kind) { return limited(value, kind.most); }
inline LimitedTexts encoded(std::vector<std::string>& value, Texts kind) {
  return limited(value, kind.most, kind.most_bytes);
}
template <class T>
LimitedField<T> encoded(std::vector<T>& value, List kind) {
  return limited(value, kind.most);
}
template <class T>
NestedField<T> encoded(T& value, Nested) {
  return nested(value);
}
template <class T>
LimitedNestedField<T> encoded(std::vector<T>& value, NestedList kind) {
  return limited_nested(value, kind.most);
}
template <std::size_t N>
std::array<std::uint8_t, N>& encoded(std::array<std::uint8_t, N>& value, Bytes) {
  return value;
}
template <class E, const auto& kWords>
EnumField<E> encoded(E& value, Worded<kWords>) {
  return enum_field(value, +[](std::underlying_type_t<E> number) { return has_word(kWords, static_cast<E>(number)); });
}
template <class T>
T& encoded(T& value, Id) {
  return value;
}
template <class T>
T& encoded(T& value, Quantity) {
  return value;
}

template <class Archive, class T, class Kind>
void encode(Archive& archive, T& value, Kind kind) {
  archive(encoded(value, kind));
}
template <class Archive, class T, class Kind>
void encode(Archive& archive, T& value, Added<Kind> added) {
  auto&& field = encoded(value, added.kind);
  archive(added_field(field));
}

}  // namespace fields

template <class Archive, HasFields T>
void serialize(Archive& archive, T& record) {
  T::visit_fields(record, [&archive](std::string_view, auto& value, auto... kind) {
    if constexpr (sizeof...(kind) == 0) {
      archive(value);
    } else {
      fields::encode(archive, value, kind...);
    }
  });
}

}  // namespace ferry
