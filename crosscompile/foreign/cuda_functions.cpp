#include "crosscompile/foreign/cuda_functions.h"

#include <algorithm>
#include <cctype>

#include "base/lines.h"
#include "base/suggest.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ptx/demangled.h"

namespace ferry::foreign {
namespace {

using Kind = link::DeclaredType::Kind;

constexpr std::size_t kNearestKernels = 3;
constexpr std::string_view kDeclared = "ferry_declared<";

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

// Returns the name without the parameters, and without a result's type, which templates have.
std::string name_of(const std::string& declaration) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < declaration.size(); ++at) {
    const char c = declaration[at];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (depth > 0) continue;
    if (c == '(' && declaration.compare(at, 11, "(anonymous ") != 0) return declaration.substr(begin, at - begin);
    if (c == ' ' && declaration.compare(at, 11, " namespace)") != 0) begin = at + 1;
  }
  return declaration;
}

std::string last_part(const std::string& name) {
  const std::size_t colons = name.substr(0, name.find('<')).rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

struct KnownType {
  std::string_view name;
  Kind kind;
  std::uint64_t bits;
};
constexpr KnownType kKnownTypes[] = {{"void", Kind::nothing, 0},
                                     {"bool", Kind::integer, 8},
                                     {"char", Kind::integer, 8},
                                     {"signed char", Kind::integer, 8},
                                     {"unsigned char", Kind::integer, 8},
                                     {"short", Kind::integer, 16},
                                     {"unsigned short", Kind::integer, 16},
                                     {"int", Kind::integer, 32},
                                     {"unsigned int", Kind::integer, 32},
                                     {"long", Kind::integer, 64},
                                     {"unsigned long", Kind::integer, 64},
                                     {"long long", Kind::integer, 64},
                                     {"unsigned long long", Kind::integer, 64},
                                     {"float", Kind::real, 32},
                                     {"double", Kind::real, 64},
                                     {"__half", Kind::real, 16},
                                     {"__nv_bfloat16", Kind::brain, 16}};

// Reads "float const*" as the demangler prints it.
link::DeclaredType type_of(std::string text) {
  link::DeclaredType type;
  type.text = text;
  type.kind = Kind::other;
  if (text.find('(') != std::string::npos) return type;
  type.is_pointer = text.ends_with('*') || text.ends_with('&');
  if (type.is_pointer) text.pop_back();
  for (const std::string_view word : {" volatile", " const"}) {
    if (!text.ends_with(word)) continue;
    text.resize(text.size() - word.size());
    if (word == " const") type.is_constant = type.is_pointer;
  }
  if (text.ends_with('*') || text.ends_with('&')) return type;
  const auto known = std::find_if(std::begin(kKnownTypes), std::end(kKnownTypes),
                                  [&](const KnownType& one) { return one.name == text; });
  type.kind = known == std::end(kKnownTypes) ? Kind::structure : known->kind;
  type.bits = known == std::end(kKnownTypes) ? 0 : known->bits;
  return type;
}

// Splits "int, f<a, b>, float const*".
std::vector<std::string> parameters_in(const std::string& text) {
  std::vector<std::string> all;
  int depth = 0;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end) {
    const std::size_t first = text.find_first_not_of(' ', begin);
    if (first < end) all.push_back(text.substr(first, end - first));
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c != ',' || depth > 0) continue;
    add(at);
    begin = at + 1;
  }
  add(text.size());
  return all;
}

// Returns the line with the word before '(' behind a line with __global__; 0 if there is none.
unsigned line_of(std::string_view text, const std::string& word) {
  std::size_t global = std::string_view::npos;
  const std::vector<std::string_view> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find("__global__") != std::string_view::npos) global = i;
    for (std::size_t at = lines[i].find(word); at != std::string_view::npos; at = lines[i].find(word, at + 1)) {
      const std::size_t end = lines[i].find_first_not_of(' ', at + word.size());
      const bool is_call =
          end != std::string_view::npos && lines[i][end] == '(' && (at == 0 || !is_name(lines[i][at - 1]));
      if (is_call && global != std::string_view::npos && i - global < 4) return static_cast<unsigned>(i + 1);
    }
  }
  return 0;
}

}  // namespace

std::vector<CudaFunction> kernels_in_ptx(std::string_view ptx) {
  constexpr std::string_view kEntry = ".entry ";
  std::vector<CudaFunction> all;
  for (const std::string_view line : lines_of(ptx)) {
    const std::size_t at = line.find(kEntry), comment = line.find("//");
    if (at == std::string_view::npos || comment < at) continue;
    std::size_t end = at + kEntry.size();
    while (end < line.size() && is_name(line[end])) ++end;
    const std::string symbol(line.substr(at + kEntry.size(), end - at - kEntry.size()));
    all.push_back({symbol, name_of(ptx::demangled(symbol))});
  }
  return all;
}

CudaFunction find_kernel(const std::vector<CudaFunction>& all, const ForeignKernel& kernel,
                         const Signature& signature) {
  const std::string& wanted = signature.c_name;
  std::vector<CudaFunction> found;
  std::vector<std::string> names;
  for (const CudaFunction& one : all) {
    if (one.symbol == wanted || last_part(one.name) == wanted) found.push_back(one);
    names.push_back(last_part(one.name));
  }
  if (found.size() == 1) return found.front();
  if (all.size() == 1 && kernel.signatures.size() == 1) return all.front();
  if (found.size() > 1)
    throw CompileError(kernel.file + ": expected one kernel '" + wanted + "', got " + std::to_string(found.size()) +
                       " with this name: give them different ones");
  throw CompileError(kernel.file + ": expected a kernel '" + wanted + "', got " +
                     (names.empty() ? "none: write __global__ before it, and instantiate a template"
                                    : joined(nearest_names(wanted, names, kNearestKernels))));
}

const char* declaring_text() { return "\ntemplate <class F> __global__ void ferry_declared() {}\n"; }

std::string declaring_expression(const CudaFunction& function) {
  return std::string(kDeclared) + "decltype(&" + function.name + ")>";
}

link::DeclaredFunction declaration_in(const std::string& symbol, const CudaFunction& function, std::string_view text,
                                      const std::string& file) {
  // "void ferry_declared<void (*)(float, float const*)>()"
  const std::string whole = ptx::demangled(symbol);
  const std::size_t begin = whole.find("(*)("), end = whole.rfind(")>()");
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    throw CompileError(file + ": how " + function.name + " is declared cannot be read from '" + whole + "'");
  link::DeclaredFunction declared;
  declared.file = file;
  declared.line = line_of(text, last_part(function.name));
  declared.returns.text = "void";
  for (const std::string& one : parameters_in(whole.substr(begin + 4, end - begin - 4)))
    declared.parameters.push_back({"", type_of(one)});
  return declared;
}

}  // namespace ferry::foreign
