#include "host/lang/names.h"

#include "crosscompile/ir/error.h"
#include "ferry/operators.h"
#include "module/manifest.h"

#include <algorithm>

namespace ferry::lang {
namespace {

// Edit distance: the number of insertions, deletions, replacements and swaps of neighbours.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const bool same = a[i - 1] == b[j - 1];
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

// Checks the product of the constant sizes; a size of 0 makes the others harmless.
void check_count(const std::vector<ir::Expr>& shape, const std::string& name) {
  constexpr int kMostBits = 60;
  std::uint64_t count = 1;
  bool too_many = false;
  for (const ir::Expr& size : shape) {
    const std::int64_t* constant = ir::as_int(size);
    if (constant == nullptr) continue;
    if (*constant == 0) return;
    too_many = too_many || __builtin_mul_overflow(count, static_cast<std::uint64_t>(*constant), &count);
    too_many = too_many || count >> kMostBits != 0;
  }
  if (too_many)
    throw CompileError("'" + name + "': expected fewer than 2^" + std::to_string(kMostBits) +
                       " elements, which is more than any memory holds");
}

}  // namespace

std::vector<ir::Expr> checked_shape(std::vector<ir::Expr> shape, const std::string& name) {
  if (shape.size() > kMaxRank) {
    throw CompileError("'" + name + "': expected at most " + std::to_string(kMaxRank) + " dimensions, got " +
                       std::to_string(shape.size()));
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].defined() || !shape[i].type().is_int() || !shape[i].type().is_scalar()) {
      throw CompileError("'" + name + "': expected an integer as dimension " + std::to_string(i + 1) + ", got " +
                         (shape[i].defined() ? ir::to_text(shape[i].type()) : "nothing"));
    }
    shape[i] = ir::cast(DType::i64, shape[i]);
    if (const std::int64_t* size = ir::as_int(shape[i]); size != nullptr && *size < 0) {
      throw CompileError("'" + name + "': expected a size of at least 0 as dimension " + std::to_string(i + 1) +
                         ", got " + std::to_string(*size));
    }
  }
  check_count(shape, name);
  return shape;
}

std::vector<ir::Expr> checked_strides(std::vector<ir::Expr> strides, std::size_t rank, const std::string& name) {
  if (!strides.empty() && strides.size() != rank) {
    throw CompileError("'" + name + "': expected " + counted(rank, "stride", "strides") + ", got " +
                       std::to_string(strides.size()));
  }
  for (ir::Expr& stride : strides) {
    if (!stride.defined() || !stride.type().is_int() || !stride.type().is_scalar()) {
      throw CompileError("'" + name + "': expected integers as strides, got " +
                         (stride.defined() ? ir::to_text(stride.type()) : "nothing"));
    }
    stride = ir::cast(DType::i64, stride);
    if (const std::int64_t* value = ir::as_int(stride); value != nullptr && *value < 0)
      throw CompileError("'" + name + "': expected strides of at least 0, got " + std::to_string(*value));
  }
  return strides;
}

void check_name(const std::string& name, const char* what) {
  if (name.empty() || name.size() > kMaxNameLength) {
    throw CompileError("expected a name of 1 to " + std::to_string(kMaxNameLength) + " characters for " + what +
                       ", got " + std::to_string(name.size()) + " characters");
  }
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = (c >= '0' && c <= '9') || c == '.';
    if (!letter && !(digit && i > 0)) {
      throw CompileError("expected a letter or '_' and then letters, digits, '_' and '.' in the name of " +
                         std::string(what) + ", got '" + name + "'");
    }
  }
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string suggestion(const std::string& name, const std::vector<std::string>& candidates) {
  if (name.size() > kMaxNameLength) return "";
  const std::string* best = nullptr;
  // A third of the letters may differ; a single letter may differ only in its case.
  std::size_t allowed = name.size() / 3 + (name.size() > 1 ? 1 : 0);
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kMaxNameLength || candidate == name) continue;
    std::size_t far = distance(name, candidate);
    if (name.size() == 1 && candidate.size() == 1 && (name[0] ^ candidate[0]) == 0x20) far = 0;
    if (far > allowed || (best != nullptr && far == allowed)) continue;
    if (far >= std::max(name.size(), candidate.size()) && far != 0) continue;
    best = &candidate;
    allowed = far;
  }
  return best == nullptr ? "" : "; did you mean '" + *best + "'?";
}

std::vector<std::string> type_names() {
  return {"float", "float16", "float32", "float64", "half",   "bfloat16", "double", "int", "int8",
          "int16", "int32",   "int64",   "uint8",   "uint16", "uint32",   "uint64", "bool"};
}

}  // namespace ferry::lang
