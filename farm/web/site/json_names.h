// The words that stand for enumerators in JSON and in forms.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "farm/protocol/queries.h"

namespace ferry::farm::http {

template <class T>
using Word = std::pair<std::string_view, T>;

inline constexpr std::array<Word<wire::Role>, 3> kRoles{
    {{"viewer", wire::Role::viewer}, {"user", wire::Role::user}, {"admin", wire::Role::admin}}};
inline constexpr std::array<Word<wire::CredentialKind>, 4> kCredentialKinds{{
    {"client", wire::CredentialKind::client},
    {"board", wire::CredentialKind::board},
    {"token", wire::CredentialKind::token},
    {"enrolment", wire::CredentialKind::enrolment},
}};
inline constexpr std::array<Word<wire::BoardOrder>, 3> kOrders{{
    {"maintain", wire::BoardOrder::maintain},
    {"retire", wire::BoardOrder::retire},
    {"return", wire::BoardOrder::return_to_service},
}};

template <class T, std::size_t N>
std::string_view word_of(const std::array<Word<T>, N>& words, T value) {
  for (const Word<T>& word : words) {
    if (word.second == value) return word.first;
  }
  return "unknown";
}

}  // namespace ferry::farm::http
