// Tests of defects planted in a GPU kernel as `ferry check` sees it: each is reported with the tensor and element.
#include "crosscompile/ir/mutator.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/operators.h"
#include "host/lower/lower.h"
#include "tests/support/gpu_schedules.h"
#include "tests/support/schedules/scheduled.h"
#include "tests/support/without_barrier.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::test;

namespace {

const char* const kProduct = "def mm(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
const Sizes kSizes = {{"M", 13}, {"N", 9}, {"K", 11}};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Returns a kernel with its blocks, threads and barriers, whose tensors still have their dimensions.
ir::Function kernel(const std::string& schedule) {
  const lang::Program program = lang::parse(kProduct, "test.tc").at(0);
  ir::Function kernel;
  (void)passes::run_pipeline(lower::lower(program, schedule::Schedule::replay(program, schedule)),
                             resolve_target("opencl"), [&](std::string_view pass, const ir::Function& function) {
                               if (pass == passes::kLastGpuPass) kernel = function;
                             });
  return kernel;
}

// Makes a tensor one row or column smaller than its tile.
class SmallerTensor : public ir::Mutator {
 public:
  SmallerTensor(std::string name, std::size_t dimension) : name_(std::move(name)), dimension_(dimension) {}

 protected:
  ir::BufferRef mutate_buffer(const ir::BufferRef& buffer) override {
    if (buffer->name != name_) return buffer;
    if (smaller_ == nullptr) {
      ir::Buffer changed = *buffer;
      changed.shape.at(dimension_) = changed.shape.at(dimension_) - 1;
      smaller_ = std::make_shared<ir::Buffer>(std::move(changed));
    }
    return smaller_;
  }

 private:
  std::string name_;
  std::size_t dimension_;
  ir::BufferRef smaller_;
};

// Makes the stores that fill a tile write one element further along its last dimension.
class ShiftedStore : public ir::Mutator {
 public:
  explicit ShiftedStore(std::string name) : name_(std::move(name)) {}

 protected:
  using ir::Mutator::mutate_node;
  ir::Stmt mutate_node(const ir::Store& node, const ir::Stmt& self) override {
    if (node.buffer->name != name_) return self;
    std::vector<ir::Expr> indices = node.indices;
    indices.back() = indices.back() + 1;
    return ir::Store::make(node.buffer, indices, node.value, node.mask);
  }

 private:
  std::string name_;
};

// Changes the number of iterations of the loop of that name.
class OtherExtent : public ir::Mutator {
 public:
  OtherExtent(std::string loop, std::int64_t more) : loop_(std::move(loop)), more_(more) {}

 protected:
  using ir::Mutator::mutate_node;
  ir::Stmt mutate_node(const ir::For& node, const ir::Stmt& self) override {
    if (node.var.as<ir::Var>()->name != loop_) return Mutator::mutate_node(node, self);
    return ir::For::make(node.var, node.min, node.extent + more_, node.for_kind, node.body);
  }

 private:
  std::string loop_;
  std::int64_t more_;
};

template <class M>
std::string with(M mutator, const std::string& schedule = kTiled) {
  ir::Function function = kernel(schedule);
  REQUIRE(complaint(function, kSizes) == "none");
  function.body = mutator.mutate(function.body);
  return complaint(function, kSizes);
}

}  // namespace

TEST_CASE("a barrier that was removed is a race, told by tensor, element and threads") {
  const ir::Function whole = kernel(kTiled);
  REQUIRE(count_barriers(whole) == 2);
  for (int barrier = 0; barrier < 2; ++barrier) {
    const std::string what = complaint(without_barrier(whole, barrier), kSizes);
    CAPTURE(what);
    CHECK((contains(what, "a race of threads on 'AA'[") || contains(what, "a race of threads on 'BB'[") ||
           contains(what, "never written: 'AA' at ") || contains(what, "never written: 'BB' at ")));
  }
}

TEST_CASE("shared memory that is too small is an index outside, told by tensor and index") {
  CHECK(with(SmallerTensor("AA", 0)) == "AA[7, 2]: index 0 is outside 0:7 (shape [7, 4])");
  CHECK(with(SmallerTensor("AA", 1)) == "AA[0, 3]: index 1 is outside 0:3 (shape [8, 3])");
  CHECK(with(SmallerTensor("BB", 0)) == "BB[3, 0]: index 0 is outside 0:3 (shape [3, 8])");
  CHECK(with(SmallerTensor("BB", 1)) == "BB[0, 7]: index 1 is outside 0:7 (shape [4, 7])");
}

TEST_CASE("a tile that is filled or read off by one is told by tensor and element") {
  CHECK(with(ShiftedStore("AA")) == "AA[0, 4]: index 1 is outside 0:4 (shape [8, 4])");
  CHECK(with(ShiftedStore("BB")) == "a value is read that was never written: 'BB' at position 0");
  // One iteration too many reads beyond a tile.
  CHECK(with(OtherExtent("ki", 1)) == "AA[4, 4]: index 1 is outside 0:4 (shape [8, 4])");
}
