#include "crosscompile/foreign/prototype.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "crosscompile/codegen/llvm/target/adapter.h"
#include "crosscompile/ir/c_type_name.h"
#include "crosscompile/ir/error.h"
#include "ferry/expr.h"

namespace ferry::foreign {
namespace {

// A parameter that the signature expects.
struct Expected {
  std::string name;
  DType dtype = DType::i64;
  bool is_pointer = false, is_written = false, is_size = false;
};

std::vector<Expected> expected_parameters(const FunctionInfo& function) {
  std::vector<Expected> all;
  for (const ParameterInfo& parameter : function.parameters) {
    const bool is_tensor = parameter.kind == ParameterKind::tensor;
    all.push_back(
        {parameter.name, parameter.dtype, is_tensor, is_tensor && parameter.direction != Direction::in, false});
  }
  for (const std::size_t size : codegen::passed_sizes(function))
    all.push_back({function.symbols[size], DType::i64, false, false, true});
  return all;
}

std::string c_text(const Expected& parameter) {
  const std::string type = ir::c_type_name(parameter.dtype);
  if (!parameter.is_pointer) return type + " " + parameter.name;
  return (parameter.is_written ? "" : "const ") + type + "* " + parameter.name;
}

// A type as clang writes it, decomposed.
struct CType {
  std::string base;  // "float", "unsigned int"
  bool is_pointer = false;
  bool is_constant = false;  // whether the pointee is const
};

bool take_word(std::string& text, std::string_view word) {
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at > 0 && is_name(text[at - 1])) || (end < text.size() && is_name(text[end]))) continue;
    text.erase(at, word.size());
    return true;
  }
  return false;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

CType parse_type(const std::string& text) {
  CType type;
  const std::size_t pointer = text.find_first_of("*&(");
  type.is_pointer = pointer != std::string::npos;
  type.base = text.substr(0, pointer);
  type.is_constant = take_word(type.base, "const");
  take_word(type.base, "volatile");
  take_word(type.base, "restrict");
  type.base = trimmed(type.base);
  return type;
}

// The arithmetic types of C, as clang spells them.
struct Arithmetic {
  const char* base;
  bool is_float;
  int bits;
};
constexpr std::array<Arithmetic, 24> kArithmetic = {{{"float", true, 32},
                                                     {"double", true, 64},
                                                     {"long double", true, 128},
                                                     {"_Float16", true, 16},
                                                     {"__fp16", true, 16},
                                                     {"__bf16", true, 17},  // 17: 16 bits in another format
                                                     {"_Bool", false, 8},
                                                     {"bool", false, 8},
                                                     {"char", false, 8},
                                                     {"signed char", false, 8},
                                                     {"unsigned char", false, 8},
                                                     {"short", false, 16},
                                                     {"unsigned short", false, 16},
                                                     {"int", false, 32},
                                                     {"unsigned int", false, 32},
                                                     {"unsigned", false, 32},
                                                     {"long", false, 0},  // as wide as a pointer
                                                     {"unsigned long", false, 0},
                                                     {"long long", false, 64},
                                                     {"unsigned long long", false, 64},
                                                     {"__int128", false, 128},
                                                     {"unsigned __int128", false, 128},
                                                     {"char16_t", false, 16},
                                                     {"char32_t", false, 32}}};

const Arithmetic* arithmetic(const std::string& base) {
  const auto* found =
      std::find_if(kArithmetic.begin(), kArithmetic.end(), [&](const Arithmetic& one) { return base == one.base; });
  return found == kArithmetic.end() ? nullptr : found;
}

// Returns whether the bits have the same meaning. Signed and unsigned integers of one width are interchangeable, and so
// are narrow floats and the integers that hold them. Types that are not arithmetic, such as a structure of floats, are
// the user's responsibility.
bool fits(const CType& type, const Expected& expected, const Target& target) {
  if (type.is_pointer != expected.is_pointer) return false;
  const Arithmetic* known = arithmetic(type.base);
  if (known == nullptr) return expected.is_pointer;
  const int bits = known->bits == 0 ? static_cast<int>(target.pointer_bits) : known->bits;
  const int wanted = expected.dtype == DType::bf16 ? 17 : static_cast<int>(dtype_bytes(expected.dtype)) * 8;
  if (expected.is_pointer && ir::Type(expected.dtype).is_narrow_float() && !known->is_float) return bits == 16;
  return known->is_float == is_float(expected.dtype) && bits == wanted;
}

std::string place(const std::string& file, const Prototype& prototype) {
  return file + ":" + std::to_string(prototype.line) + ": ";
}

std::string prototype_text(const std::string& name, const std::vector<Expected>& expected) {
  std::string text = "void " + name + "(";
  for (std::size_t i = 0; i < expected.size(); ++i) text += (i == 0 ? "" : ", ") + c_text(expected[i]);
  return text + ")";
}

void check_count(const Prototype& prototype, const std::vector<Expected>& expected, const Signature& signature,
                 const std::string& file) {
  const std::size_t got = prototype.parameters.size();
  if (got == expected.size()) return;
  std::string message = place(file, prototype) + signature.c_name + ": expected " + std::to_string(expected.size()) +
                        " parameters, got " + std::to_string(got);
  if (got < expected.size()) {
    const Expected& missing = expected[got];
    message += "; " + std::string(missing.is_size ? "the size " : "") + c_text(missing) + " is missing";
  }
  throw CompileError(message + "; its signature means " + prototype_text(signature.c_name, expected));
}

void check_parameter(const Prototype& prototype, std::size_t index, const std::vector<Expected>& expected,
                     const Signature& signature, const std::string& file, const Target& target) {
  const Prototype::Parameter& got = prototype.parameters[index];
  const Expected& wanted = expected[index];
  const std::string what = place(file, prototype) + "parameter " + std::to_string(index + 1) + " of " +
                           signature.c_name + ": expected " + c_text(wanted);
  const std::string shown = got.type + (got.name.empty() ? "" : " " + got.name);
  const CType type = parse_type(got.type);
  const bool is_constant = wanted.is_written && type.is_constant;
  if (!fits(type, wanted, target) || is_constant) {
    throw CompileError(what + ", got " + shown + (is_constant ? ", which cannot be written" : "") +
                       "; its signature means " + prototype_text(signature.c_name, expected));
  }
  for (std::size_t other = 0; other < expected.size(); ++other) {
    if (other == index || got.name.empty() || got.name != expected[other].name) continue;
    throw CompileError(what + ", got " + shown + ", which the signature has as parameter " + std::to_string(other + 1) +
                       ": expected them in one order");
  }
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Returns the text between the last pair of quotes: for a typedef, 'real':'float', that is the type itself.
std::string last_quoted(std::string_view line) {
  const std::size_t end = line.rfind('\'');
  if (end == std::string_view::npos || end == 0) return {};
  const std::size_t begin = line.rfind('\'', end - 1);
  return begin == std::string_view::npos ? std::string() : std::string(line.substr(begin + 1, end - begin - 1));
}

// Returns the line where a declaration begins: 5 for "<f.c:5:1, line:7:1> line:5:6".
int line_of(std::string_view text) {
  const std::size_t begin = text.find('<', text.find(" 0x"));
  const std::string_view place = text.substr(begin + 1, text.find_first_of(",>", begin) - begin - 1);
  const std::size_t column = place.rfind(':');
  const std::size_t number = column == std::string_view::npos ? column : place.rfind(':', column - 1);
  int line = 0;
  if (number != std::string_view::npos) std::from_chars(place.data() + number + 1, place.data() + column, line);
  return line;
}

// Returns the word before the first quote, unless it is the last word of the location: "col:45 used y 'float *'".
std::string name_before_type(std::string_view line) {
  const std::size_t quote = line.find(" '");
  if (quote == std::string_view::npos) return {};
  const std::string_view before = line.substr(0, quote);
  const std::string_view word = before.substr(before.rfind(' ') + 1);
  const bool is_name = word.find_first_of(":<>") == std::string_view::npos && word != "used" && word != "invalid" &&
                       word != "referenced";
  return is_name ? std::string(word) : std::string();
}

}  // namespace

std::optional<Prototype> find_prototype(std::string_view dump, const std::string& name) {
  std::optional<Prototype> current;
  while (!dump.empty()) {
    const std::string_view line = next_line(dump);
    if (line.starts_with("FunctionDecl ")) {
      current.reset();
      if (name_before_type(line) != name) continue;
      current.emplace();
      current->line = line_of(line);
      const std::string type = last_quoted(line);
      current->returns = trimmed(type.substr(0, type.find('(')));
    } else if (current && (line.starts_with("|-ParmVarDecl ") || line.starts_with("`-ParmVarDecl "))) {
      current->parameters.push_back({name_before_type(line), last_quoted(line)});
    } else if (current && (line.starts_with("|-CompoundStmt ") || line.starts_with("`-CompoundStmt "))) {
      return current;
    }
  }
  return std::nullopt;
}

void check_prototype(const Prototype& prototype, const Signature& signature, const std::string& file,
                     const Target& target) {
  const std::vector<Expected> expected = expected_parameters(signature.function);
  // Types are checked first: a surplus or missing parameter is best reported at the first that does not match, and by
  // its count only when all present ones match.
  const std::size_t both = std::min(expected.size(), prototype.parameters.size());
  for (std::size_t i = 0; i < both; ++i) check_parameter(prototype, i, expected, signature, file, target);
  check_count(prototype, expected, signature, file);
  if (!signature.returns_status) return;
  const Expected status{"", DType::i32, false, false, false};
  if (fits(parse_type(prototype.returns), status, target)) return;
  throw CompileError(place(file, prototype) + signature.c_name +
                     ": expected it to return int32_t, as its signature says, got " + prototype.returns);
}

}  // namespace ferry::foreign
