#include "host/lang/tensor.h"

#include "crosscompile/ir/error.h"
#include "host/lang/names.h"

namespace ferry::lang {

Expr Tensor::at(std::vector<Expr> indices) const {
  if (indices.size() != rank()) {
    throw CompileError("'" + name() + "': expected " + counted(rank(), "index", "indices") + ", got " +
                       std::to_string(indices.size()));
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].defined() || !indices[i].type().is_int() || !indices[i].type().is_scalar()) {
      throw CompileError("'" + name() + "': expected an integer as index " + std::to_string(i + 1) + ", got " +
                         (indices[i].defined() ? ir::to_text(indices[i].type()) : "nothing"));
    }
    indices[i] = ir::cast(DType::i64, indices[i]);
  }
  return ir::Load::make(buffer_, std::move(indices));
}

Expr var(std::string name, ir::Type type) {
  check_name(name, "a variable");
  return ir::Var::make(std::move(name), type);
}

Tensor placeholder(std::vector<Expr> shape, DType dtype, std::string name) {
  check_name(name, "a tensor");
  auto buffer = std::make_shared<ir::Buffer>();
  buffer->shape = checked_shape(std::move(shape), name);
  buffer->name = std::move(name);
  buffer->dtype = dtype;
  return Tensor(std::move(buffer));
}

std::vector<Expr> checked_shape(std::vector<Expr> shape, const std::string& name) {
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
  return shape;
}

void check_name(const std::string& name, const char* what) {
  if (name.empty() || name.size() > kMaxNameLength) {
    throw CompileError("expected a name of 1 to " + std::to_string(kMaxNameLength) + " characters for " + what +
                       ", got " + std::to_string(name.size()) + " characters");
  }
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = (c >= '0' && c <= '9') || c == '.';
    if (!letter && !(digit && &c != name.data())) {
      throw CompileError("expected letters, digits, '_' and '.' in the name of " + std::string(what) + ", got '" +
                         name + "'");
    }
  }
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace ferry::lang
