// A visitor of variants made of one lambda for each alternative: std::visit(Overloaded{...}, variant).
#pragma once

namespace ferry {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

}  // namespace ferry
