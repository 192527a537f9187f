#include "host/text/array_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace ferry::text {

namespace {

constexpr int kPrecision = 8;  // digits after the decimal point
constexpr std::size_t kLineWidth = 75;

// A number printed with the fewest digits that reproduce the value in its own type.
struct Number {
  DType dtype = DType::f32;
  double value = 0;
};

bool gives_back(const Number& number, const char* text) {
  const double read = strtod(text, nullptr);
  if (number.dtype == DType::f16) return f64_to_f16(read) == f64_to_f16(number.value);
  return f64_to_bf16(read) == f64_to_bf16(number.value);
}

std::string digits(const Number& number, std::chars_format format) {
  char text[512];
  const auto finish = [&](std::to_chars_result end) { return std::string(text, end.ptr); };
  if (number.dtype == DType::f64) return finish(std::to_chars(text, std::end(text), number.value, format));
  if (number.dtype == DType::f32) {
    return finish(std::to_chars(text, std::end(text), static_cast<float>(number.value), format));
  }
  for (int precision = 0; precision < 9; ++precision) {
    const std::string candidate = finish(std::to_chars(text, std::end(text), number.value, format, precision));
    if (gives_back(number, candidate.c_str())) return candidate;
  }
  return finish(std::to_chars(text, std::end(text), number.value, format));
}

std::size_t fraction_length(const std::string& text) {
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return 0;
  return text.find_first_of("e", point) == std::string::npos ? text.size() - point - 1 : text.find('e') - point - 1;
}

// Returns "1.5" with as many digits as needed, at most eight after the point; whole numbers end with a point.
std::string fixed_text(const Number& number) {
  std::string text = digits(number, std::chars_format::fixed);
  if (fraction_length(text) > kPrecision) {
    char rounded[512];
    text = {rounded, std::to_chars(rounded, std::end(rounded), number.value, std::chars_format::fixed, kPrecision).ptr};
    while (text.ends_with('0')) text.pop_back();
  }
  if (text.find('.') == std::string::npos) text += '.';
  return text;
}

std::string scientific_text(const Number& number, int precision) {
  char text[64];
  return {text, std::to_chars(text, std::end(text), number.value, std::chars_format::scientific, precision).ptr};
}

bool wants_exponent(const std::vector<Number>& numbers) {
  double largest = 0, smallest = 0, least = 1e-4;
  const DType dtype = numbers.front().dtype;  // this type may represent 1e-4 inexactly
  if (dtype == DType::f16) least = f16_to_f32(f64_to_f16(least));
  if (dtype == DType::bf16) least = bf16_to_f32(f64_to_bf16(least));
  if (dtype == DType::f32) least = static_cast<float>(least);
  for (const Number& number : numbers) {
    const double size = std::abs(number.value);
    if (!std::isfinite(size) || size == 0) continue;
    largest = std::max(largest, size);
    smallest = smallest == 0 ? size : std::min(smallest, size);
  }
  return largest >= 1e8 || (smallest != 0 && (smallest < least || largest / smallest > 1000));
}

const char* special_text(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

// Returns texts of equal length with aligned decimal points.
std::vector<std::string> float_texts(const std::vector<Number>& numbers) {
  const bool exponent = wants_exponent(numbers);
  std::vector<std::string> texts;
  int precision = 0;
  std::size_t before = 0, after = 0;
  if (exponent) {
    for (const Number& number : numbers) {
      if (!std::isfinite(number.value)) continue;
      const std::string shortest = digits(number, std::chars_format::scientific);
      precision = std::max(precision, std::min(kPrecision, static_cast<int>(fraction_length(shortest))));
    }
  }
  for (const Number& number : numbers) {
    if (!std::isfinite(number.value)) {
      texts.emplace_back(special_text(number.value));
      continue;
    }
    texts.push_back(exponent ? scientific_text(number, precision) : fixed_text(number));
    if (exponent && precision == 0) texts.back().insert(texts.back().find('e'), ".");
    before = std::max(before, texts.back().find('.'));
    after = std::max(after, texts.back().size() - texts.back().find('.') - 1);
  }
  std::size_t width = before + 1 + after;
  for (const std::string& text : texts) width = std::max(width, text.find('.') == std::string::npos ? text.size() : 0);
  for (std::string& text : texts) {
    const std::size_t point = text.find('.');
    if (point != std::string::npos) text += std::string(after - (text.size() - point - 1), ' ');
    text.insert(0, width - text.size(), ' ');
  }
  return texts;
}

template <class T>
T element(const void* data, std::size_t index) {
  T value;
  memcpy(&value, static_cast<const char*>(data) + index * sizeof(T), sizeof(T));
  return value;
}

std::string integer_text(DType dtype, const void* data, std::size_t i) {
  switch (dtype) {
    case DType::i8: return std::to_string(element<std::int8_t>(data, i));
    case DType::i16: return std::to_string(element<std::int16_t>(data, i));
    case DType::i32: return std::to_string(element<std::int32_t>(data, i));
    case DType::i64: return std::to_string(element<std::int64_t>(data, i));
    case DType::u8: return std::to_string(element<std::uint8_t>(data, i));
    case DType::u16: return std::to_string(element<std::uint16_t>(data, i));
    case DType::u32: return std::to_string(element<std::uint32_t>(data, i));
    case DType::u64: return std::to_string(element<std::uint64_t>(data, i));
    case DType::boolean: return element<std::uint8_t>(data, i) != 0 ? "True" : "False";
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64: break;
  }
  return "";
}

double float_value(DType dtype, const void* data, std::size_t i) {
  if (dtype == DType::f16) return f16_to_f32(element<std::uint16_t>(data, i));
  if (dtype == DType::bf16) return bf16_to_f32(element<std::uint16_t>(data, i));
  if (dtype == DType::f32) return element<float>(data, i);
  return element<double>(data, i);
}

std::vector<std::string> texts_of(DType dtype, std::size_t count, const void* data) {
  if (is_float(dtype)) {
    std::vector<Number> numbers;
    for (std::size_t i = 0; i < count; ++i) numbers.push_back({dtype, float_value(dtype, data, i)});
    return float_texts(numbers);
  }
  std::vector<std::string> texts;
  std::size_t width = 0;
  for (std::size_t i = 0; i < count; ++i) {
    texts.push_back(integer_text(dtype, data, i));
    width = std::max(width, texts.back().size());
  }
  for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
  return texts;
}

// Returns one row, broken into lines that are indented for `depth` brackets.
std::string row_text(const std::string* first, std::size_t count, std::size_t depth) {
  std::string text, current;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t closing = i + 1 == count ? depth : 1;
    if (!current.empty() && depth + current.size() + 1 + first[i].size() + closing > kLineWidth) {
      current.erase(current.find_last_not_of(' ') + 1);
      text += current + "\n" + std::string(depth, ' ');
      current.clear();
    }
    current += (current.empty() ? "" : " ") + first[i];
  }
  return text + current;
}

std::string nested_text(const std::string* first, std::span<const std::int64_t> shape, std::size_t depth) {
  const auto extent = static_cast<std::size_t>(shape.front());
  if (shape.size() == 1) return "[" + row_text(first, extent, depth + 1) + "]";
  std::size_t inside = 1;
  for (const std::int64_t inner : shape.subspan(1)) inside *= static_cast<std::size_t>(inner);
  std::string text = "[";
  for (std::size_t i = 0; i < extent; ++i) {
    if (i > 0) text += std::string(shape.size() - 1, '\n') + std::string(depth + 1, ' ');
    text += nested_text(first + i * inside, shape.subspan(1), depth + 1);
  }
  return text + "]";
}

}  // namespace

std::string shortest_text(DType dtype, double value) { return digits({dtype, value}, std::chars_format::general); }

std::string array_text(DType dtype, std::span<const std::int64_t> shape, const void* data) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  if (count == 0) return "[]";
  const std::vector<std::string> texts = texts_of(dtype, count, data);
  if (shape.empty()) return texts[0].ends_with('.') ? texts[0] + "0" : texts[0];
  return nested_text(texts.data(), shape, 0);
}

}  // namespace ferry::text
