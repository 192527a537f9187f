#include "host/tune/builder/builder.h"

#include <exception>

namespace ferry::tune {

BuildResult DirectBuilder::build(const PointInOrder& point) {
  try {
    return compile_(point);
  } catch (const std::exception& error) {
    return Failure{Outcome::refused, error.what()};
  }
}

}  // namespace ferry::tune
