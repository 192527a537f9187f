#include "tests/fuzz/cases/fuzz_case.h"

namespace ferry::fuzz {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::string to_text(const Statement& statement) {
  std::string text = statement.target;
  if (!statement.axes.empty()) text += "(" + joined(statement.axes) + ")";
  text += " " + statement.op + " " + to_text(statement.value);
  if (!statement.along.empty()) text += " along " + statement.along;
  std::string ranges;
  for (const Range& range : statement.ranges)
    ranges += (ranges.empty() ? " where " : ", ") + range.axis + " in " + range.begin + ":" + range.extent;
  return text + ranges;
}

std::string quoted(const std::string& text) {
  std::string lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    lines += (lines.empty() ? "    \"" : "\n    \"") + text.substr(at, end - at) + "\\n\"";
    at = end + 1;
  }
  return lines.empty() ? "    \"\"" : lines;
}

}  // namespace

std::string to_text(const Node& node) {
  std::string text;
  for (std::size_t i = 0; i < node.text.size(); ++i) {
    if (node.text[i] != '$')
      text += node.text[i];
    else
      text += to_text(node.parts.at(static_cast<std::size_t>(node.text[++i] - '0')));
  }
  return text;
}

std::string source_of(const FuzzCase& fuzz_case) {
  std::string parameters;
  const auto add = [&](const std::string& parameter) { parameters += (parameters.empty() ? "" : ", ") + parameter; };
  for (const std::string& name : fuzz_case.scalars) add((name == kLargeScalar ? "int64 " : "int ") + name);
  for (const InputTensor& input : fuzz_case.inputs) {
    // A tensor of rank 0 is written with empty parentheses.
    add((input.constant ? "const " : "") + std::string(type_text(input.type)) + "(" + joined(input.shape) + ") " +
        input.name + (input.strides.empty() ? "" : " strides(" + joined(input.strides) + ")"));
  }
  std::string text = "def f(" + parameters + ") -> (" + joined(fuzz_case.outputs) + ") {\n";
  for (const Statement& statement : fuzz_case.statements) text += "  " + to_text(statement) + "\n";
  return text + "}\n";
}

std::string schedule_of(const FuzzCase& fuzz_case) {
  std::string text;
  for (const std::string& directive : fuzz_case.directives) text += directive + "\n";
  return text;
}

std::string as_test(const FuzzCase& fuzz_case) {
  std::string sizes;
  for (const auto& [name, value] : fuzz_case.sizes)
    sizes += (sizes.empty() ? "" : ", ") + std::string("{\"") + name + "\", " + std::to_string(value) + "}";
  return "// seed " + std::to_string(fuzz_case.seed) + ", " + fuzz_case.target +
         (fuzz_case.by_api ? ", made again by made_by_api()" : "") + "\ncheck_schedule(\n" +
         quoted(source_of(fuzz_case)) + ",\n" + quoted(schedule_of(fuzz_case)) + ",\n    {" + sizes + "});\n";
}

const char* type_text(DType type) {
  switch (type) {
    case DType::f16: return "float16";
    case DType::bf16: return "bfloat16";
    case DType::f32: return "float32";
    case DType::f64: return "float64";
    case DType::i8: return "int8";
    case DType::i16: return "int16";
    case DType::i32: return "int32";
    case DType::i64: return "int64";
    case DType::u8: return "uint8";
    case DType::u16: return "uint16";
    case DType::u32: return "uint32";
    case DType::u64: return "uint64";
    case DType::boolean: return "bool";
  }
  return "";
}

}  // namespace ferry::fuzz
