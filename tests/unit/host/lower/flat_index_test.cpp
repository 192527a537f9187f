// Tests that fused axes of dense tensors become one flat index: no element is found by dividing.
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/target/resolve.h"
#include "tests/support/schedules/cpu_with_vectors.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ferry;
using namespace ferry::test;

namespace {

class IndexDivisions : public ir::Visitor {
 public:
  int count = 0;

 protected:
  using ir::Visitor::visit_node;
  void visit_node(const ir::Load& node) override {
    visit_index(node.indices);
    visit(node.mask);
  }
  void visit_node(const ir::Store& node) override {
    visit_index(node.indices);
    visit(node.value);
    visit(node.mask);
  }
  void visit_node(const ir::Binary& node) override {
    count += inside_ && (node.op == ir::BinaryOp::div || node.op == ir::BinaryOp::mod);
    ir::Visitor::visit_node(node);
  }

 private:
  void visit_index(const std::vector<ir::Expr>& indices) {
    inside_ = true;
    for (const ir::Expr& index : indices) visit(index);
    inside_ = false;
  }

  bool inside_ = false;
};

void expect_flat(const std::string& source, const std::string& schedule, const Target& target) {
  const ir::Function function = compiled(source, schedule, target);
  INFO(source << "\n" << schedule << "\n" << ir::to_text(function));
  IndexDivisions divisions;
  divisions.visit(function.body);
  CHECK(divisions.count == 0);
}

struct Program {
  std::string source;
  std::vector<std::string> fusions;  // the orders in which all axes become `all`
};

const char* const kPairs = "Y: fuse g h -> gh\nY: fuse i j -> ij\nY: fuse gh ij -> all\n";
const char* const kFromTheLeft = "Y: fuse i j -> ij\nY: fuse ij k -> all\n";
const char* const kFromTheRight = "Y: fuse j k -> jk\nY: fuse i jk -> all\n";

const Program kPrograms[] = {
    {"def f(float(I,J) X) -> (Y) { Y(i,j) = X(i,j) * 2 }", {"Y: fuse i j -> all\n"}},
    {"def f(float(30,28) X) -> (Y) { Y(i,j) = X(i,j) * 2 }", {"Y: fuse i j -> all\n"}},
    {"def f(float(I,J,K) X, float(I,J,K) Z) -> (Y) { Y(i,j,k) = X(i,j,k) * Z(i,j,k) }", {kFromTheLeft, kFromTheRight}},
    {"def f(float(32,28,28) X, float(32,28,28) Z) -> (Y) { Y(i,j,k) = X(i,j,k) * Z(i,j,k) }",
     {kFromTheLeft, kFromTheRight}},
    {"def f(float(I,J,28) X) -> (Y) { Y(i,j,k) = X(i,j,k) * 2 }", {kFromTheLeft, kFromTheRight}},
    {"def f(float(I,28,K) X) -> (Y) { Y(i,j,k) = X(i,j,k) * 2 }", {kFromTheLeft, kFromTheRight}},
    {"def f(float(5,7,1,9) X) -> (Y) { Y(i,j,q,k) = X(i,j,q,k) * 3 where q in 0:1 }",
     {"Y: fuse i j -> ij\nY: fuse ij q -> ijq\nY: fuse ijq k -> all\n"}},
    {"def f(float(G,H,I,J) X) -> (Y) { Y(g,h,i,j) = X(g,h,i,j) * 3 }", {kPairs}},
    {"def f(float(3,5,7,9) X) -> (Y) { Y(g,h,i,j) = X(g,h,i,j) * 3 }",
     {kPairs, "Y: fuse g h -> gh\nY: fuse gh i -> ghi\nY: fuse ghi j -> all\n",
      "Y: fuse i j -> ij\nY: fuse h ij -> hij\nY: fuse g hij -> all\n"}},
};

}  // namespace

TEST_CASE("fused axes of dense tensors become one flat index on CPUs") {
  for (const Program& program : kPrograms) {
    for (const std::string& fusion : program.fusions) {
      for (const char* rest : {"", "Y: parallel all\n", "Y: split all 16 -> o v\nY: vectorize v\n",
                               "Y: split all 4 -> o u\nY: unroll u\n", "Y: split all 7 -> o v\nY: vectorize v\n",
                               "Y: split all 64 -> a b\nY: parallel a\nY: split b 8 -> c v\nY: vectorize v\n",
                               "Y: split all 64 -> a b\nY: split b 8 -> c v\nY: unroll c\nY: vectorize v\n",
                               "Y: split all 1024 -> a b\nY: parallel a\nY: split b 16 -> c v\nY: vectorize v\n"}) {
        for (const int bits : {128, 512}) expect_flat(program.source, fusion + rest, cpu_with_vectors(bits));
      }
    }
  }
}

TEST_CASE("fused axes of dense tensors become one flat index on GPUs") {
  for (const Program& program : kPrograms) {
    for (const std::string& fusion : program.fusions) {
      for (const char* rest :
           {"Y: split all 1024 -> b t\nY: bind b blockIdx.x\nY: bind t threadIdx.x\n",
            "Y: split all 512 -> b r\nY: split r 4 -> t v\nY: bind b blockIdx.x\nY: bind t threadIdx.x\nY: vectorize "
            "v\n",
            "Y: split all 512 -> b r\nY: split r 128 -> u t\nY: bind b blockIdx.x\nY: bind t threadIdx.x\n"
            "Y: unroll u\n"}) {
        for (const char* gpu : {"cuda", "opencl"}) expect_flat(program.source, fusion + rest, resolve_target(gpu));
      }
    }
  }
}

TEST_CASE("a flat index finds the same elements") {
  const std::string open = "def f(int(I,J,K) X, int(K) B) -> (Y) { Y(i,j,k) = X(i,j,k) + B(k) }";
  for (const std::string fusion : {kFromTheLeft, kFromTheRight}) {
    for (const char* rest : {"", "Y: split all 16 -> o v\nY: vectorize v\n",
                             "Y: split all 64 -> a b\nY: parallel a\nY: split b 8 -> c v\nY: vectorize v\n",
                             "Y: split all 64 -> b t\nY: bind b blockIdx.x\nY: bind t threadIdx.x\n"}) {
      for (const Sizes& sizes : {Sizes{{"I", 3}, {"J", 5}, {"K", 7}}, Sizes{{"I", 1}, {"J", 1}, {"K", 1}},
                                 Sizes{{"I", 2}, {"J", 0}, {"K", 4}}, Sizes{{"I", 2}, {"J", 4}, {"K", 8}}})
        check_schedule(open, fusion + rest, sizes);
      check_schedule("def f(int(5,7,9) X, int(9) B) -> (Y) { Y(i,j,k) = X(i,j,k) + B(k) }", fusion + rest);
      check_schedule("def f(int(6,4,8) X, int(8) B) -> (Y) { Y(i,j,k) = X(i,j,k) + B(k) }", fusion + rest);
      check_schedule("def f(int(6,4,8) X) -> (Y) { Y(i,j,k) = X(i,k % 4,j) + k / 3 where k in 0:8 }", fusion + rest);
    }
  }
}
