#include "ferry/lang/tensor.h"

#include "crosscompile/ir/error.h"
#include "host/lang/names.h"
#include "host/lang/stage.h"

namespace ferry::lang {

const std::string& Tensor::name() const { return buffer_->name; }

DType Tensor::dtype() const { return buffer_->dtype; }

const std::vector<Expr>& Tensor::shape() const { return buffer_->shape; }

const Stage* Tensor::stage() const { return static_cast<const Stage*>(buffer_->definition.get()); }

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

Tensor placeholder(std::vector<Expr> shape, DType dtype, std::string name, std::vector<Expr> strides) {
  check_name(name, "a tensor");
  auto buffer = std::make_shared<ir::Buffer>();
  buffer->shape = checked_shape(std::move(shape), name);
  buffer->strides = checked_strides(std::move(strides), buffer->shape.size(), name);
  buffer->name = std::move(name);
  buffer->dtype = dtype;
  return Tensor(std::move(buffer));
}

}  // namespace ferry::lang
