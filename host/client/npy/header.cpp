#include "host/client/npy/header.h"

#include <charconv>
#include <optional>

#include "ferry/error.h"

namespace ferry::npy {

namespace {

// Parses the subset of Python literals that the header uses: a dictionary of strings, bools and tuples of integers.
class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  [[noreturn]] void fail(const std::string& expected) const {
    const std::string_view rest = text_.substr(at_, 20);
    throw UsageError(name_ + ": header offset " + std::to_string(at_) + ": expected " + expected + ", got " +
                     (rest.empty() ? "its end" : "'" + std::string(rest) + "'"));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("'" + std::string(token) + "'");
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

  std::string string() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : 0;
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail("a string");
    const std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    if (accept("True")) return true;
    if (!accept("False")) fail("True or False");
    return false;
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    for (expect("("); !accept(")");) {
      skip_blanks();
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc() || value < 0) fail("a size");
      at_ = static_cast<std::size_t>(end - text_.data());
      values.push_back(value);
      if (accept(",")) continue;
      expect(")");
      break;
    }
    return values;
  }

 private:
  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

struct Code {
  DType dtype;
  const char* text;
};
// The name that ml_dtypes gives to bfloat16, which numpy itself does not know.
constexpr const char* kBfloat16 = "bfloat16";
constexpr Code kCodes[] = {{DType::f16, "f2"},  {DType::f32, "f4"},      {DType::f64, "f8"}, {DType::i8, "i1"},
                           {DType::i16, "i2"},  {DType::i32, "i4"},      {DType::i64, "i8"}, {DType::u8, "u1"},
                           {DType::u16, "u2"},  {DType::u32, "u4"},      {DType::u64, "u8"}, {DType::boolean, "b1"},
                           {DType::bf16, "V2"}, {DType::bf16, kBfloat16}};

std::optional<DType> dtype_of_code(std::string_view text) {
  for (const Code& code : kCodes) {
    if (text == code.text) return code.dtype;
  }
  return std::nullopt;
}

}  // namespace

Header parse_header(std::string_view text, const std::string& name) {
  Reader reader(text, name);
  Header header;
  bool has_descr = false, has_order = false, has_shape = false;
  for (reader.expect("{"); !reader.accept("}");) {
    const std::string key = reader.string();
    reader.expect(":");
    if (key == "descr") {
      const std::string descr = reader.string();
      const bool has_sign = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
      const auto dtype = dtype_of_code(std::string_view(descr).substr(has_sign ? 1 : 0));
      if (!dtype) throw UsageError(name + ": expected elements of a type that ferry has, got '" + descr + "'");
      header.dtype = *dtype;
      header.big_endian = descr[0] == '>';
      has_descr = true;
    } else if (key == "fortran_order") {
      header.fortran_order = reader.boolean();
      has_order = true;
    } else if (key == "shape") {
      header.shape = reader.tuple();
      has_shape = true;
    } else {
      throw UsageError(name + ": expected descr, fortran_order and shape in the header, got '" + key + "'");
    }
    if (reader.accept(",")) continue;
    reader.expect("}");
    break;
  }
  if (!reader.at_end()) reader.fail("the header's end");
  if (!has_descr || !has_order || !has_shape)
    throw UsageError(name + ": expected descr, fortran_order and shape in the header");
  return header;
}

std::string header_text(DType dtype, const std::vector<std::int64_t>& shape) {
  std::string code;
  for (const Code& one : kCodes) {
    if (one.dtype == dtype) code = one.text;
  }
  const char* order = code == kBfloat16 ? "" : dtype_bytes(dtype) == 1 ? "|" : "<";
  std::string sizes;
  for (const std::int64_t extent : shape) sizes += (sizes.empty() ? "" : ", ") + std::to_string(extent);
  if (shape.size() == 1) sizes += ",";
  std::string text =
      "{'descr': '" + std::string(order) + code + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  // Like numpy, leave room for the first size to grow in place, to 21 digits.
  if (!shape.empty()) text.append(21 - std::to_string(shape.front()).size(), ' ');
  return text;
}

}  // namespace ferry::npy
