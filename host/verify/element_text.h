// Elements of tensors as messages name them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/lang/reference.h"
#include "rpc/abi/dtype.h"

namespace ferry::verify {

double value_of(DType dtype, const lang::Element& element);

// "0.7", "-3": with as few digits as tell it from every other number of its type.
std::string element_text(DType dtype, const lang::Element& element);

// "C[3,4]", of an element in row-major order.
std::string position_text(const std::string& name, const std::vector<std::int64_t>& shape, std::uint64_t position);

}  // namespace ferry::verify
