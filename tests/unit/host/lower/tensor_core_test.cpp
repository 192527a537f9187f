// Tests of products on tensor cores: the computation of each thread, the arguments of the instruction, and the result
// of a model of the hardware.
#include "crosscompile/passes/tensorize/tensor_core.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/memory/flatten.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/passes/tensorize/match_nest.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/operators.h"
#include "host/lower/lower.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <vector>

using namespace ferry;
using namespace ferry::test;

namespace {

// Sizes of a warp's tile, and whether each operand is stored transposed.
struct Tile {
  int rows, columns;
  bool transpose_a, transpose_b;
};

std::string source_of(const Tile& tile, const std::string& type = "float16") {
  const std::string a = tile.transpose_a ? "(32,64) A" : "(64,32) A", b = tile.transpose_b ? "(64,32) B" : "(32,64) B";
  return "def mm(" + type + a + ", " + type + b + ") -> (C) { C(m,n) +=! float(" +
         (tile.transpose_a ? "A(k,m)" : "A(m,k)") + ") * float(" + (tile.transpose_b ? "B(n,k)" : "B(k,n)") + ") }";
}

// One warp for each block, with a tile of rows x columns.
std::string schedule_of(const Tile& tile) {
  const std::string rows = std::to_string(tile.rows), columns = std::to_string(tile.columns);
  const auto fetch = [](const std::string& piece) {
    return piece + ": compute_at CL ko\n" + piece + ": fuse i0 i1 -> f\n" + piece + ": split f 32 -> r t\n" + piece +
           ": split t 4 -> ty tx\n" + piece + ": bind ty threadIdx.y\n" + piece + ": bind tx threadIdx.x\n";
  };
  return "C: cache_write local -> CL\nA: cache_read shared CL -> AA\nB: cache_read shared CL -> BB\n"
         "C: split m " +
         rows + " -> mb m1\nC: split m1 16 -> mo m2\nC: split m2 8 -> io y\nC: split n " + columns +
         " -> nb n1\nC: split n1 8 -> no n2\nC: split n2 2 -> x ji\nC: reorder mb nb mo io no y x ji\n"
         "C: bind mb blockIdx.y\nC: bind nb blockIdx.x\nC: bind mo vthread\nC: bind io vthread\nC: bind no vthread\n"
         "C: bind y threadIdx.y\nC: bind x threadIdx.x\nCL: compute_at C x\nCL: split k 16 -> ko ki\n"
         "CL: reorder ko ki m n\nCL: tensorize ki mma_m16n8k16\n" +
         fetch("AA") + fetch("BB");
}

ir::Function matched(const std::string& source, const std::string& schedule, const std::string& gpu) {
  const lang::Program program = lang::parse(source, "test.tc").at(0);
  ir::Function result;
  passes::run_pipeline(lower::lower(program, schedule::Schedule::replay(program, schedule)), resolve_target(gpu),
                       [&](std::string_view pass, const ir::Function& function) {
                         if (pass == "select_instructions") result = function;
                       });
  return result;
}

std::string refused(const std::string& source, const std::string& schedule, const std::string& gpu = "cuda") {
  try {
    (void)matched(source, schedule, gpu);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "none";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class InstructionFinder : public ir::Visitor {
 public:
  const ir::InstructionStmt* found = nullptr;
  std::vector<ir::Expr> threads;  // loops over threads, outermost first

 protected:
  using ir::Visitor::visit_node;
  void visit_node(const ir::For& node) override {
    if (ir::is_thread(node.for_kind)) threads.push_back(node.var);
    ir::Visitor::visit_node(node);
  }
  void visit_node(const ir::InstructionStmt& node) override { found = &node; }
};

// Evaluates an expression; variables without a given value are 0.
std::int64_t value_of(const ir::Expr& expr, const ir::Substitution& values) {
  ir::Substitution all = values;
  for (const ir::Expr& var : ir::free_vars(expr)) all.emplace(var.get(), ir::Expr(0));
  const ir::Expr value = passes::simplify(ir::substitute(expr, all));
  REQUIRE(ir::as_int(value) != nullptr);
  return *ir::as_int(value);
}

std::int64_t position_of(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices,
                         const ir::Substitution& values) {
  return value_of(passes::linear_index(buffer, indices), values);
}

using Sums = std::map<std::int64_t, double>;  // by position in a thread's own memory
using Memory = std::map<std::string, std::vector<double>>;

// Returns the sums that a thread computes according to the definition.
Sums defined_sums(const ir::Stmt& definition, const Memory& shared, ir::Substitution values) {
  Sums sums;
  const auto nest = passes::as_nest(definition);
  REQUIRE(nest);
  const auto& store = *nest->store.as<ir::Store>();
  const auto& product = *store.value.as<ir::Binary>()->right.as<ir::Binary>();
  const auto factor = [&](const ir::Expr& expr) {
    const auto& load = *expr.as<ir::Cast>()->value.as<ir::Load>();
    return shared.at(load.buffer->name).at(static_cast<std::size_t>(position_of(*load.buffer, load.indices, values)));
  };
  std::vector<std::int64_t> at(nest->loops.size(), 0);
  for (bool more = true; more;) {
    for (std::size_t i = 0; i < at.size(); ++i) values[nest->loops[i].var.get()] = ir::Expr(at[i]);
    sums[position_of(*store.buffer, store.indices, values)] += factor(product.left) * factor(product.right);
    more = false;
    for (std::size_t i = 0; i < at.size() && !more; ++i) {
      more = ++at[i] < nest->loops[i].extent;
      if (!more) at[i] = 0;
    }
  }
  return sums;
}

constexpr std::size_t kLanes = 32;
using Pair = std::array<double, 2>;
// Returns for each thread of the warp the registers that an ldmatrix of this many pieces loads, as in the PTX ISA:
// threads 8 * p to 8 * p + 7 address the rows of piece p, of which thread t gets the elements t % 4 * 2 and the next of
// row t / 4, or, transposed, those of column t / 4.
std::vector<std::vector<Pair>> load_pieces(const std::vector<double>& memory, const std::vector<std::int64_t>& rows,
                                           std::size_t pieces, bool transposed) {
  std::vector<std::vector<Pair>> registers(kLanes);
  for (std::size_t t = 0; t < kLanes; ++t)
    for (std::size_t p = 0; p < pieces; ++p) {
      const auto element = [&](std::size_t row, std::size_t column) {
        CHECK(rows[8 * p + row] % 8 == 0);
        return memory.at(static_cast<std::size_t>(rows[8 * p + row]) + column);
      };
      const std::size_t g = t / 4, c = t % 4 * 2;
      registers[t].push_back(transposed ? Pair{element(c, g), element(c + 1, g)}
                                        : Pair{element(g, c), element(g, c + 1)});
    }
  return registers;
}

// Returns D of one mma.m16n8k16 for each thread, given the threads' fragments (PTX ISA, "Matrix Fragments for
// mma.m16n8k16").
std::vector<std::array<double, 4>> multiply(const std::vector<std::vector<Pair>>& a,
                                            const std::vector<std::vector<Pair>>& b) {
  std::array<std::array<double, 16>, 16> rows{};
  std::array<std::array<double, 8>, 16> columns{};
  for (std::size_t t = 0; t < kLanes; ++t) {
    const std::size_t g = t / 4, c = t % 4 * 2;
    for (std::size_t e = 0; e < 2; ++e) {
      for (std::size_t r = 0; r < 4; ++r) rows[g + r % 2 * 8][c + e + r / 2 * 8] = a[t][r][e];
      for (std::size_t r = 0; r < 2; ++r) columns[c + e + r * 8][g] = b[t][r][e];
    }
  }
  std::vector<std::array<double, 4>> sums(kLanes);
  for (std::size_t t = 0; t < kLanes; ++t)
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < 16; ++k) sums[t][i] += rows[t / 4 + i / 2 * 8][k] * columns[k][t % 4 * 2 + i % 2];
  return sums;
}

// Returns the sums that the hardware computes for each thread from the arguments.
std::vector<Sums> computed_sums(const ir::InstructionStmt& node, const Memory& shared,
                                const std::vector<ir::Substitution>& lanes) {
  const passes::TensorCoreTile tile = passes::tile_of(node.arguments);
  const auto pieces_of = [&](const ir::Expr& address, std::size_t pieces, bool transposed) {
    const ir::Load& load = *ir::addressed(address);
    std::vector<std::int64_t> rows;
    for (const ir::Substitution& lane : lanes) rows.push_back(position_of(*load.buffer, load.indices, lane));
    return load_pieces(shared.at(load.buffer->name), rows, pieces, transposed);
  };
  std::vector<std::vector<std::vector<Pair>>> a, b;
  for (const ir::Expr& address : tile.a) a.push_back(pieces_of(address, 4, tile.transpose_a));
  for (std::size_t j = 0; j < tile.b.size(); ++j) {
    const bool is_single = static_cast<std::int64_t>(2 * j + 1) == tile.columns;
    const auto pieces = pieces_of(tile.b[j], is_single ? 2 : 4, tile.transpose_b);
    for (std::size_t half = 0; half < (is_single ? 1U : 2U); ++half) {
      b.emplace_back();
      for (const auto& of_lane : pieces) b.back().push_back({of_lane[2 * half], of_lane[2 * half + 1]});
    }
  }
  std::vector<Sums> sums(kLanes);
  std::size_t at = 0;
  for (const auto& rows : a)
    for (const auto& columns : b) {
      const auto products = multiply(rows, columns);
      for (std::size_t i = 0; i < 4; ++i, ++at) {
        const ir::Load& place = *ir::addressed(tile.sums[at]);
        for (std::size_t t = 0; t < kLanes; ++t)
          sums[t][position_of(*place.buffer, place.indices, lanes[t])] += products[t][i];
      }
    }
  REQUIRE(at == tile.sums.size());
  return sums;
}

}  // namespace

TEST_CASE("a product on tensor cores has the results of one without") {
  for (const Tile& tile :
       {Tile{16, 8, false, false}, {32, 16, false, true}, {16, 32, true, false}, {64, 8, true, true}})
    check_schedule(source_of(tile), schedule_of(tile));
}

TEST_CASE("given the instruction's arguments, the hardware computes what its definition says, thread by thread") {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true})
      for (const auto& [rows, columns] : {std::pair(16, 8), {32, 16}, {16, 64}, {64, 8}, {32, 32}}) {
        // Large tiles take long: of each only one with this operand and one with the other transposed.
        if (rows * columns > 32 * 16 && transpose_a == transpose_b) continue;
        const Tile tile{rows, columns, transpose_a, transpose_b};
        const ir::Function function = matched(source_of(tile), schedule_of(tile), "cuda");
        INFO(ir::to_text(function));
        InstructionFinder finder;
        finder.visit(function.body);
        REQUIRE(finder.found != nullptr);
        REQUIRE(finder.threads.size() == 2);
        Memory shared;
        for (const char* name : {"AA", "BB"}) {
          std::vector<double>& memory = shared[name];
          for (int i = 0; i < 64 * 32; ++i) memory.push_back((i * 7919 + (name[0] == 'A' ? 3 : 11)) % 1009);
        }
        std::vector<ir::Substitution> lanes(kLanes);
        for (std::size_t t = 0; t < kLanes; ++t)
          lanes[t] = {{finder.threads[0].get(), ir::Expr(static_cast<std::int64_t>(t / 4))},
                      {finder.threads[1].get(), ir::Expr(static_cast<std::int64_t>(t % 4))}};
        const std::vector<Sums> computed = computed_sums(*finder.found, shared, lanes);
        for (const std::size_t t : {0U, 13U, 31U}) {
          CAPTURE(t);
          CHECK(computed[t] == defined_sums(finder.found->definition, shared, lanes[t]));
        }
      }
}

TEST_CASE("bfloat16 goes to tensor cores too, and older GPUs and OpenCL compute what they would") {
  const Tile tile{32, 16, false, false};
  for (const char* type : {"float16", "bfloat16"})
    CHECK(contains(ir::to_text(matched(source_of(tile, type), schedule_of(tile), "cuda -arch=sm_90")),
                   "mma_m16n8k16(2, 2, 0, 1, "));
  // Sums of narrow floats are accumulated in float32, whatever type stores them.
  const std::string narrow = replaced(replaced(source_of(tile), "float(A(m,k))", "A(m,k)"), "float(B(k,n))", "B(k,n)");
  CHECK(contains(ir::to_text(matched(narrow, schedule_of(tile), "cuda -arch=sm_90")), "mma_m16n8k16(2, 2, 0, 1, "));
  for (const char* gpu : {"cuda -arch=sm_75", "opencl"}) {
    const std::string text = ir::to_text(matched(source_of(tile), schedule_of(tile), gpu));
    INFO(text);
    CHECK(!contains(text, "mma_m16n8k16("));
    CHECK(contains(text, " += f32(AA["));
  }
}

TEST_CASE("what tensor cores do not compute is refused, with what they do") {
  const Tile tile{32, 16, false, false};
  const std::string source = source_of(tile), schedule = schedule_of(tile);
  CHECK(contains(refused(source_of(tile, "float32"), schedule),
                 "tensorize mma_m16n8k16: expected products of float16 or bfloat16 values, added up in float32"));
  CHECK(contains(refused(source, replaced(schedule, "CL: split k 16", "CL: split k 8")),
                 "tensorize mma_m16n8k16: expected loops of 2 halves of 16 rows"));
  CHECK(contains(refused(replaced(replaced(source, "(64,32) A", "(M,32) A"), "(32,64) B", "(32,N) B"), schedule),
                 "tensorize mma_m16n8k16: expected whole pieces, got the condition '"));
  std::string unfetched = replaced(schedule, "A: cache_read shared CL -> AA\n", "");
  unfetched.erase(unfetched.find("AA: "), unfetched.find("BB: ") - unfetched.find("AA: "));
  CHECK(contains(refused(source, unfetched), "expected 'A' in shared memory"));
  CHECK(contains(refused(source, replaced(replaced(replaced(schedule, "C: bind x threadIdx.x", "C: bind x threadIdx.z"),
                                                   "AA: bind tx threadIdx.x", "AA: bind tx threadIdx.z"),
                                          "BB: bind tx threadIdx.x", "BB: bind tx threadIdx.z")),
                 "expected 4 threads of a warp along threadIdx.x"));
  CHECK(contains(refused(source, schedule + "AA: storage_align i0 20\n"),
                 "expected rows of 'AA' that begin at multiples of 16 bytes, got steps of 20 elements"));
}
