#include "crosscompile/link/declared_function.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace ferry::link {
namespace {

using Kind = DeclaredType::Kind;

// Returns where the bracket that opens at `open` closes; npos if it does not.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (std::string_view("([{<").find(text[i]) != std::string_view::npos) ++depth;
    if (std::string_view(")]}>").find(text[i]) != std::string_view::npos && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Returns the first word, or all up to the bracket that closes where it begins with one.
std::string_view first_word(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (!text.empty() && std::string_view("[{<").find(text[0]) != std::string_view::npos)
    return text.substr(0, closing(text, 0) == std::string_view::npos ? text.size() : closing(text, 0) + 1);
  return text.substr(0, text.find_first_of(" ,)"));
}

DeclaredType described(std::string_view type) {
  DeclaredType found;
  found.text = type;
  const auto real = [&](Kind kind, std::uint64_t bits) {
    found.kind = kind;
    found.bits = bits;
  };
  if (type == "ptr" || type.starts_with("ptr ")) {
    found.is_pointer = true;
  } else if (type == "half") {
    real(Kind::real, 16);
  } else if (type == "bfloat") {
    real(Kind::brain, 16);
  } else if (type == "float") {
    real(Kind::real, 32);
  } else if (type == "double") {
    real(Kind::real, 64);
  } else if (type.starts_with("i") && type.find_first_not_of("0123456789", 1) == std::string_view::npos) {
    std::from_chars(type.data() + 1, type.data() + type.size(), found.bits);
    // bool is i1 in registers.
    real(Kind::integer, found.bits == 1 ? 8 : found.bits);
  } else if (type != "void") {
    real(Kind::structure, 0);
  }
  return found;
}

DeclaredFunction::Parameter parameter_in(std::string_view text) {
  DeclaredFunction::Parameter parameter{"", described(first_word(text))};
  if (text.find(" byval(") != std::string_view::npos)
    parameter.type = {"a structure", "", Kind::structure, 0, false, false};
  const std::size_t name = text.rfind(" %");
  if (name != std::string_view::npos && text.find(' ', name + 1) == std::string_view::npos)
    parameter.name = text.substr(name + 2);
  return parameter;
}

}  // namespace

std::optional<DeclaredFunction> declared_in_ir(std::string_view ir, const std::string& symbol) {
  const std::string begin = "@" + symbol + "(";
  for (std::size_t at = ir.find("define "); at != std::string_view::npos; at = ir.find("\ndefine ", at + 1)) {
    const std::size_t start = ir.find("define ", at);
    const std::string_view line = ir.substr(start, ir.find('\n', start) - start);
    const std::size_t name = line.find(begin);
    if (name == std::string_view::npos) continue;
    const std::size_t open = name + begin.size() - 1, close = closing(line, open);
    if (close == std::string_view::npos) return std::nullopt;
    DeclaredFunction found;
    // The type stands right before the name, behind attributes such as "noundef" and "range(i32 0, 2)".
    std::string_view before = line.substr(0, name - 1);
    const bool has_brackets = std::string_view("]}>").find(before.back()) != std::string_view::npos;
    found.returns = described(has_brackets ? "a structure" : before.substr(before.rfind(' ') + 1));
    std::string_view rest = line.substr(open + 1, close - open - 1);
    while (!rest.empty()) {
      std::size_t end = 0;
      for (; end < rest.size() && rest[end] != ','; ++end)
        if (std::string_view("([{<").find(rest[end]) != std::string_view::npos)
          end = std::min(closing(rest, end), rest.size() - 1);
      const std::string_view one = rest.substr(0, end);
      if (one.find(" sret(") != std::string_view::npos)
        found.returns = {"a structure", "", Kind::structure, 0, false, false};
      found.parameters.push_back(parameter_in(one));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return found;
  }
  return std::nullopt;
}

}  // namespace ferry::link
