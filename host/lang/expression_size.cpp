#include "host/lang/expression_size.h"

#include "crosscompile/ir/expr.h"
#include "ferry/lang/tensor.h"
#include "host/lang/stage.h"

#include <algorithm>

namespace ferry::lang {

std::size_t ExpressionSize::operations(const ir::Expr& expr) {
  if (!expr.defined()) return 0;
  if (const auto known = sizes_.find(expr.get()); known != sizes_.end()) return known->second;
  const std::size_t total = std::min(kMaxOperations + 1, 1 + children(expr));
  sizes_.emplace(expr.get(), total);
  return total;
}

std::size_t ExpressionSize::children(const ir::Expr& expr) {
  std::size_t total = 0;
  const auto add = [&](const ir::Expr& child) { total = std::min(kMaxOperations + 1, total + operations(child)); };
  if (const auto* node = expr.as<ir::Cast>()) {
    add(node->value);
  } else if (const auto* unary = expr.as<ir::Unary>()) {
    add(unary->value);
  } else if (const auto* binary = expr.as<ir::Binary>()) {
    add(binary->left);
    add(binary->right);
  } else if (const auto* select = expr.as<ir::Select>()) {
    add(select->condition);
    add(select->on_true);
    add(select->on_false);
  } else if (const auto* choice = expr.as<ir::IfThenElse>()) {
    add(choice->condition);
    add(choice->on_true);
    add(choice->on_false);
  } else if (const auto* load = expr.as<ir::Load>()) {
    for (const ir::Expr& index : load->indices) add(index);
    add(load->mask);
    if (load->buffer->definition != nullptr) {
      producer_depth_ = std::max(producer_depth_, static_cast<const Stage&>(*load->buffer->definition).depth);
    }
  } else if (const auto* call = expr.as<ir::Call>()) {
    for (const ir::Expr& argument : call->arguments) add(argument);
  } else if (const auto* reduce = expr.as<ir::Reduce>()) {
    for (const ir::Expr& source : reduce->sources) add(source);
    for (const ir::Expr& start : reduce->init) add(start);
    for (const ir::Axis& axis : reduce->axes) {
      add(axis.min);
      add(axis.extent);
    }
    add(reduce->condition);
  } else if (const auto* let = expr.as<ir::Let>()) {
    add(let->value);
    add(let->body);
  }
  return total;
}

}  // namespace ferry::lang
