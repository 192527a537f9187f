// Tensors whose contents lie in files beside the model. Model files come from anywhere, so nothing outside the model's
// own folder is read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "host/graph/graph.h"

namespace ferry::graph::onnx {

class ExternalFiles {
 public:
  explicit ExternalFiles(const std::string& model_path) : model_path_(model_path) {}

  // Maps `length` bytes, or all from `offset` if the length is negative. Throws UsageError without a name in front:
  // for a location outside the model's folder, a file that cannot be read, and a range beyond its end.
  ConstantData read(const std::string& location, std::int64_t offset, std::int64_t length);
  // Returns the paths of the files that have been read, in the order of their locations.
  std::vector<std::string> paths() const;

 private:
  struct File {
    std::string path;
    MappedFile contents;
  };

  std::string model_path_;
  std::map<std::string, File> files_;  // each mapped once, as a whole
};

}  // namespace ferry::graph::onnx
