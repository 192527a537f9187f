#include "host/kernel/argument_spec.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/quantity_text.h"

namespace ferry {

namespace {

// Parses the whole text as a number.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t at = text.find(separator); at != std::string::npos; at = text.find(separator, start)) {
    parts.push_back(text.substr(start, at - start));
    start = at + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::pair<std::string, std::string> split_name(Option option, const std::string& text, const std::string& expected) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw OptionError(option, text + ": expected " + expected);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::optional<FillKind> parse_kind(std::string_view text) {
  if (text == "zeros") return FillKind::zeros;
  if (text == "ones") return FillKind::ones;
  if (text == "iota") return FillKind::iota;
  if (text == "random") return FillKind::random;
  return std::nullopt;
}

std::optional<Shape> parse_shape(const std::string& text) {
  Shape shape;
  if (text.empty()) return shape;
  for (const std::string& part : split(text, ',')) {
    const auto extent = parse_number<std::int64_t>(part);
    if (!extent || *extent < 0) return std::nullopt;
    shape.push_back(*extent);
  }
  return shape;
}

// Parses DTYPE[SIZES]; the brackets are optional for a tensor of rank 0.
bool parse_type(const std::string& text, ArgumentSpec& spec) {
  const std::size_t bracket = text.find('[');
  spec.dtype = parse_dtype(text.substr(0, bracket));
  if (!spec.dtype) return false;
  if (bracket == std::string::npos) {
    spec.shape = Shape();
    return true;
  }
  if (!text.ends_with(']')) return false;
  spec.shape = parse_shape(text.substr(bracket + 1, text.size() - bracket - 2));
  return spec.shape.has_value();
}

bool parse_scalar(const std::string& text, ArgumentSpec& spec) {
  if (text == "true" || text == "false") {
    spec.number = std::int64_t{text == "true"};
  } else if (const auto integer = parse_number<std::int64_t>(text)) {
    spec.number = *integer;
  } else if (const auto large = parse_number<std::uint64_t>(text)) {
    spec.number = *large;
  } else if (const auto real = parse_number<double>(text)) {
    spec.number = *real;
  }
  return spec.number.has_value();
}

// The type stands before the brackets or the colon; a word without either may be anything.
void expect_known_type(const std::string& text, const std::string& value) {
  const std::string type = value.substr(0, value.find_first_of("[:"));
  if (type.empty() || type.size() == value.size() || parse_dtype(type)) return;
  std::vector<std::string> names;
#define FERRY_NAME(tag, name, text, bytes, storage) names.emplace_back(text);
  FERRY_DTYPES(FERRY_NAME)
#undef FERRY_NAME
  throw OptionError(Option::argument,
                    text + ": expected an element type, one of " + join(", ", names) + "; got '" + type + "'");
}

void expect_known_contents(const std::string& text, const std::string& contents) {
  if (parse_kind(contents) || parse_distribution(contents)) return;
  throw OptionError(Option::argument, text +
                                          ": expected contents such as zeros, ones, iota, below(N), uniform(A,B), "
                                          "full, normal or normal(MEAN,DEVIATION) after the colon, got '" +
                                          contents + "'");
}

// Parses a size; `part` is "M=512".
std::int64_t parse_size(Option option, const std::string& part, const std::string& value, const std::string& expected) {
  if (const auto size = parse_number<std::int64_t>(value)) {
    if (*size >= 0) return *size;
    throw OptionError(option, part + ": expected a size of at least 0");
  }
  if (!value.empty() && value.find_first_not_of("0123456789") == std::string::npos)
    throw OptionError(option, part + ": expected a size below 2^63");
  throw OptionError(option, part + ": expected " + expected);
}

// Parses a text whose name ends at this '='.
ArgumentSpec parse_split(const std::string& text, std::size_t equals) {
  static const std::string kExpected =
      "NAME=DTYPE[SIZES] such as A=f32[64,128], with :zeros, :ones, :iota, :below(N), :uniform(A,B), :full, :normal or "
      ":normal(MEAN,DEVIATION) after it if wanted; NAME=:ones; NAME=@FILE.npy; or NAME=NUMBER";
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw OptionError(Option::argument, text + ": expected " + kExpected);
  const std::string value = text.substr(equals + 1);
  ArgumentSpec spec;
  spec.name = text.substr(0, equals);
  spec.text = text;
  if (value.starts_with('@')) {
    spec.file = value.substr(1);
    if (!spec.file.empty()) return spec;
  } else if (!parse_scalar(value, spec)) {
    const std::size_t colon = value.find(':');
    expect_known_type(text, value);
    if (colon != std::string::npos) expect_known_contents(text, value.substr(colon + 1));
    const bool type_fine = colon == 0 || parse_type(value.substr(0, colon), spec);
    const auto kind = colon == std::string::npos ? FillKind::random : parse_kind(value.substr(colon + 1));
    if (colon != std::string::npos) spec.distribution = parse_distribution(value.substr(colon + 1));
    if (type_fine && (kind || spec.distribution)) {
      spec.kind = kind.value_or(FillKind::random);
      spec.has_contents = colon != std::string::npos;
      return spec;
    }
  } else {
    return spec;
  }
  throw OptionError(Option::argument, text + ": expected " + kExpected);
}

}  // namespace

ArgumentSpec parse_argument(const std::string& text, const std::vector<std::string>& names) {
  std::size_t longest = 0;
  for (const std::string& name : names)
    if (text.starts_with(name + "=")) longest = std::max(longest, name.size());
  if (longest > 0) return parse_split(text, longest);
  const std::size_t first = text.find('=');
  for (std::size_t at = first; at != std::string::npos && names.empty(); at = text.find('=', at + 1)) {
    try {
      return parse_split(text, at);
    } catch (const OptionError&) {
      // The name may be longer.
    }
  }
  return parse_split(text, first);
}

std::vector<std::string> parameter_names(const FunctionInfo& function) {
  std::vector<std::string> names;
  for (const ParameterInfo& parameter : function.parameters) names.push_back(parameter.name);
  return names;
}

std::map<std::string, std::int64_t> parse_sizes(const std::vector<std::string>& texts, Option option) {
  std::map<std::string, std::int64_t> sizes;
  for (const std::string& text : texts) {
    for (const std::string& part : split(text, ',')) {
      const std::string expected = "NAME=SIZE such as M=512, several with commas between";
      const auto [name, value] = split_name(option, part, expected);
      const std::int64_t size = parse_size(option, part, value, expected);
      if (const auto [known, is_new] = sizes.emplace(name, size); !is_new && known->second != size) {
        throw OptionError(option,
                          name + ": expected one value, got " + std::to_string(known->second) + " and " + value);
      }
    }
  }
  return sizes;
}

}  // namespace ferry
