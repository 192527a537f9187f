// How both halves of the codec encode what they have in common.
#pragma once

#include "base/encode_fields.h"
#include "farm/protocol/codec.h"

namespace ferry::farm::wire {

inline bool is_valid_lease_kind(std::uint8_t tag) { return tag >= 1 && tag <= 2; }

inline LimitedText name(std::string& value) { return limited(value, kMaxName); }
inline LimitedText text(std::string& value) { return limited(value, kMaxText); }
inline LimitedTexts names(std::vector<std::string>& value) { return limited(value, kMaxSlots, kMaxName); }
inline LimitedTexts selectors(std::vector<std::string>& value) { return limited(value, kMaxSlots, kMaxSelector); }

inline std::array<std::uint8_t, secure::kKeyBytes>& bytes(secure::KeyBytes& key) { return key; }

template <class Archive>
void serialize(Archive& archive, Accelerator& accelerator) {
  archive(name(accelerator.kind), name(accelerator.arch));
}

template <class Archive>
void serialize(Archive& archive, Label& label) {
  archive(name(label.name), text(label.value));
}

template <class Archive>
void serialize(Archive& archive, Description& description) {
  archive(text(description.model), name(description.arch), text(description.cpu), name(description.server_version),
          description.memory_bytes, description.cores, limited(description.features, kMaxFeatures, kMaxName),
          limited_nested(description.accelerators, kMaxBoardDevices), limited_nested(description.tags, kMaxTags));
}

template <class T>
std::vector<std::uint8_t> encode(const T& message) {
  return encode_fields(message);
}

template <class T>
Result<T> decode(std::span<const std::uint8_t> bytes, Strings strings) {
  return decode_fields<T>(bytes, strings);
}

#define FERRY_INSTANTIATE(T)                              \
  template std::vector<std::uint8_t> encode<T>(const T&); \
  template Result<T> decode<T>(std::span<const std::uint8_t>, Strings);

}  // namespace ferry::farm::wire
