#include "farm/keys/revocation_line.h"

#include <array>
#include <charconv>

#include "base/format.h"
#include "base/hex.h"

namespace ferry::farm {
namespace {

constexpr const char* kKindNames[] = {"client", "board", "token", "enrolment"};

std::optional<wire::CredentialKind> kind_of(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kKindNames); ++i)
    if (name == kKindNames[i]) return static_cast<wire::CredentialKind>(i + 1);
  return std::nullopt;
}

bool is_plain(char letter) { return letter > ' ' && letter < '\x7f' && letter != '%'; }

std::optional<std::string> parse_id(std::string_view text) {
  std::string id;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_plain(text[i])) {
      id += text[i];
      continue;
    }
    std::array<std::uint8_t, 1> byte{};
    if (text[i] != '%' || !parse_hex(text.substr(i + 1, 2), byte)) return std::nullopt;
    id += static_cast<char>(byte[0]);
    i += 2;
  }
  if (id.size() > RevocationFile::kMaxIdBytes) return std::nullopt;
  return id;
}

// Takes what stands before the next space.
std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

}  // namespace

std::string revocation_line(const Revocation& revocation) {
  std::string line = kKindNames[static_cast<std::size_t>(revocation.kind) - 1];
  line += ' ' + hex_text(revocation.salt) + ' ' + std::to_string(revocation.at_ms) + ' ';
  for (const char letter : revocation.id) {
    if (is_plain(letter)) {
      line += letter;
    } else {
      line += format("%%%02x", static_cast<unsigned>(static_cast<unsigned char>(letter)));
    }
  }
  return line + '\n';
}

std::optional<Revocation> parse_revocation(std::string_view line) {
  Revocation revocation;
  const auto kind = kind_of(take_word(line));
  if (!kind || !parse_hex(take_word(line), revocation.salt)) return std::nullopt;
  const std::string_view time = take_word(line);
  const auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), revocation.at_ms);
  if (error != std::errc() || end != time.data() + time.size()) return std::nullopt;
  const auto id = parse_id(line);
  if (!id) return std::nullopt;
  revocation.kind = *kind;
  revocation.id = *id;
  return revocation;
}

}  // namespace ferry::farm
