// The kinds of fields that the farm's records have (base/fields.h), with their limits, which the receiver applies
// before it takes memory.
#pragma once

#include <cstddef>

#include "base/fields.h"

namespace ferry::farm::wire {

// Limits of strings, in bytes.
inline constexpr std::size_t kMaxName = 64;  // for a board, a tag, a feature, an architecture, an enumerator
inline constexpr std::size_t kMaxText = 256;
inline constexpr std::size_t kMaxReport = 2048;  // for the report of a crash
inline constexpr std::size_t kMaxSelector = 1024;
// Limits of lists.
inline constexpr std::size_t kMaxFeatures = 128;
inline constexpr std::size_t kMaxBoardDevices = 16;
inline constexpr std::size_t kMaxTags = 32;
inline constexpr std::size_t kMaxSlots = 16;
inline constexpr std::size_t kMaxSameMachine = 16;
inline constexpr std::size_t kMaxPage = 100;  // elements of one page of a listing

using fields::kMillidegrees, fields::kNested, fields::kPermille, fields::kPicoseconds, fields::kSpan, fields::kTime;
inline constexpr fields::Text kName{kMaxName}, kOptionalName{kMaxName, true};
inline constexpr fields::Text kText{kMaxText}, kReport{kMaxReport}, kSelector{kMaxSelector};
inline constexpr fields::Texts kNames{kMaxSlots, kMaxName}, kSelectors{kMaxSlots, kMaxSelector};
inline constexpr fields::Texts kFeatures{kMaxFeatures, kMaxName}, kSameMachine{kMaxSameMachine, kMaxName};
inline constexpr fields::NestedList kPage{kMaxPage}, kSlots{kMaxSlots}, kAccelerators{kMaxBoardDevices};
inline constexpr fields::Labels kTags{{kMaxTags}};
inline constexpr fields::Id kId;
inline constexpr fields::Bytes kBytes;

}  // namespace ferry::farm::wire
