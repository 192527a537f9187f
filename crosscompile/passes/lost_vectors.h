// Finds vectorized loops of a schedule that the passes execute one element at a time, so that ferry can warn about
// them.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::passes {

// A statement of a vectorized loop, as it is known again after passes: the buffer that it stores to, and the buffers
// that it reads for that.
struct VectorStore {
  std::string buffer;
  std::set<std::string> reads = {};

  bool is_part_of(const VectorStore& other) const;
};

struct VectorLoop {
  std::string name;
  ir::Expr var;
  std::vector<VectorStore> stores = {};  // at indices that differ between the loop's iterations
};

// Watches the passes over one function.
class LostVectors {
 public:
  // Targets that keep vectorized loops lose none.
  LostVectors(const ir::Function& lowered, const Target& target);

  // Takes the function after each pass.
  void after(std::string_view pass, const ir::Function& now);
  // Runs the passes up to the one that decides, unless after() was told what came of it.
  void run_passes(const ir::Function& lowered, const Target& target);
  // Returns the names of the vectorized loops over results in which no store is a vector, not even in part. Returns
  // none before the pass that decides.
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<VectorLoop> wanted_;
  std::vector<std::string> names_;
  bool is_decided_ = false;
};

}  // namespace ferry::passes
