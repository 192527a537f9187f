// The functions of ferry/lang/tensor.h and sequence.h for the library of operators: its indices are right wherever the
// sizes of its tensors fit together. That they do becomes a requirement, as in other stages, but what requirements
// cannot express is not checked when the kernel runs.
#pragma once

#include "ferry/lang/sequence.h"
#include "ferry/lang/tensor.h"

#include <string>
#include <vector>

namespace ferry::lang::library {

Tensor compute(std::vector<Expr> shape, const ElementFunction& element, std::string name);
std::vector<Tensor> compute_all(std::vector<Expr> shape, const ElementsFunction& elements, std::string name);
std::vector<Tensor> compute_over(std::vector<ir::Axis> axes, std::vector<Expr> values, std::string name,
                                 const std::vector<std::string>& output_names = {});
Tensor update(const Tensor& before, const ElementFunction& element, std::string name);
Tensor scan(std::vector<Expr> shape, DType dtype, std::size_t along, const ScanFunction& element, std::string name);
Tensor scatter(const Tensor& before, std::vector<Expr> updates, std::size_t along, Update how,
               const ScatterFunction& element, std::string name);

}  // namespace ferry::lang::library
