#include "tests/fuzz/cases/index_generator.h"

#include "tests/fuzz/cases/expression_generator.h"

namespace ferry::fuzz {

namespace {

Size size_called(const std::string& name) {
  Size size;
  for (std::size_t i = 0; i < kSizeNames.size(); ++i) size.times[i] = name == kSizeNames[i] ? 1 : 0;
  return size;
}

}  // namespace

std::string IndexGenerator::random_size() { return kSizeNames.at(random_.below(kSizeNames.size())); }

std::string IndexGenerator::gathered(Size& extent, const NamedAxis& axis) {
  if (inputs_.empty()) return "";
  const std::int64_t modulus = random_.between(1, 7);
  for (Tensor& input : inputs_) {
    if (is_float(input.type) || input.type == DType::boolean || input.type == DType::u64) continue;
    if (input.extents.size() != 1 || &input.extents.front() == &extent) continue;
    extent = Size::larger(extent, {modulus});
    input.extents[0] = Size::larger(input.extents[0], axis.extent);
    return "int64(" + input.name + "(" + axis.name + "))%" + std::to_string(modulus);
  }
  return "";
}

std::string IndexGenerator::index(Size& extent, std::size_t dimension, std::string& guard) {
  const auto reach = [&](const Size& needed) { extent = Size::larger(extent, needed); };
  const std::int64_t offset = random_.chance(40) ? random_.between(0, 2) : 0;
  const std::string plus = offset == 0 ? "" : "+" + std::to_string(offset);
  if (axes_.empty() || random_.chance(5)) {
    reach({offset + 1});
    return std::to_string(offset);
  }
  // Usually the axis at the same position.
  const NamedAxis& axis = dimension < axes_.size() && random_.chance(60) ? axes_[dimension] : random_.of(axes_);
  const NamedAxis& other = random_.of(axes_);
  switch (random_.between(0, 20)) {
    case 0: {
      const std::int64_t step = random_.between(2, 3);
      reach(axis.extent.scaled(step).plus(offset));
      return std::to_string(step) + "*" + axis.name + plus;
    }
    case 1:
    case 2: reach(axis.extent.plus(other.extent).plus(offset)); return axis.name + "+" + other.name + plus;
    case 3: reach(axis.extent); return axis.extent.text() + "-1-" + axis.name;
    case 4: reach(axis.extent); return axis.name + "/" + std::to_string(random_.between(2, 5));
    case 5: {
      // Indices over several axes with distant values make vectors gather.
      const bool scattered = random_.chance(50);
      const std::int64_t modulus = random_.between(1, scattered ? 40 : 5);
      reach({modulus});
      const std::string place = scattered ? "(" + axis.name + "*3+" + other.name + plus + ")" : axis.name;
      return place + "%" + std::to_string(modulus);
    }
    case 6: {
      const std::int64_t last = random_.between(0, 6);
      reach({last + 1});
      return "min(" + axis.name + "," + std::to_string(last) + ")";
    }
    case 7: {
      // Only one dimension may have a guard, so that the guard stays readable.
      if (!guard.empty()) break;
      const std::int64_t shift = random_.between(0, 2), limit = random_.between(1, 9);
      guard = axis.name + " >= " + std::to_string(shift) + " && " + axis.name + " < " + std::to_string(shift + limit);
      reach({limit});
      return shift == 0 ? axis.name : axis.name + "-" + std::to_string(shift);
    }
    case 8:
      if (const std::string gathered_index = gathered(extent, axis); !gathered_index.empty()) return gathered_index;
      break;
    case 9: reach(axis.extent); return axis.name + "/" + random_size();
    case 10: {
      // The remainder of a division by 0 is 0, so index 0 must exist.
      const std::string modulus = random_size();
      reach(size_called(modulus).plus(1));
      return "(" + axis.name + plus + ")%" + modulus;
    }
    case 11: {
      const std::int64_t row = random_.between(1, 5);
      reach(axis.extent.scaled(row).plus(other.extent));
      return "(" + axis.name + "*" + std::to_string(row) + "+" + other.name + ")/" + random_size();
    }
    case 12: {
      // Arithmetic that may wrap, limited or under a guard.
      const std::string wrapping = wrapping_index(random_, axis.name);
      const std::int64_t limit = random_.between(1, 9);
      if (guard.empty() && random_.chance(40)) {
        guard = wrapping + " >= 0 && " + wrapping + " < " + std::to_string(limit);
        reach({limit});
        return wrapping;
      }
      reach({limit});
      const std::string last = std::to_string(limit - 1);
      return random_.of<std::string>({"clamp(" + wrapping + ",0," + last + ")",
                                      "min(max(" + wrapping + ",0)," + last + ")",
                                      "(" + wrapping + ")%" + std::to_string(limit),
                                      "min(abs(" + wrapping + "/3)," + last + ")%" + std::to_string(limit)});
    }
    case 13: {
      const std::string data = gathered(extent, axis);
      if (data.empty()) break;
      const std::string last = std::to_string(random_.between(1, 7));
      reach({std::stoll(last) + 1});
      return "clamp(max(" + axis.name + "," + data + "*2305843009213693953)*2,0," + last + ")";
    }
    default: break;
  }
  reach(axis.extent.plus(offset));
  return axis.name + plus;
}

}  // namespace ferry::fuzz
