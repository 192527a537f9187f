// Cases for each primitive of the schedule language, at sizes that no factor divides: the results must be those of the
// program as written.
#include "tests/e2e/programs/program_case.h"

namespace ferry::test {

namespace {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;

std::vector<Expected> one(Expected expected) { return {std::move(expected)}; }

ProgramCase scheduled(const std::string& what, std::string source, Arguments arguments, const std::string& schedule,
                      std::function<std::vector<Expected>(const Arguments&)> reference, double tolerance) {
  ProgramCase program{what + " under \"" + schedule + "\"", std::move(source), std::move(arguments),
                      std::move(reference), tolerance};
  program.schedule = schedule;
  return program;
}

void products(std::vector<ProgramCase>& cases) {
  for (const char* schedule :
       {"split m 4; split n nparts 3", "tile m n 4 8; vectorize n.inner", "fuse m n -> p; split p 8; parallel p.outer",
        "reorder k m n", "tile m n 4 16; reorder m.outer n.outer k m.inner n.inner; unroll m.inner; vectorize n.inner",
        "split k 4; reorder k.outer m n k.inner; unroll k.inner", "parallel m; split n 16; vectorize n.inner",
        "split k 8; vectorize k.inner reduce", "reorder m k n; prefetch B k 4; parallel m",
        "split k 4; pragma m auto_unroll_max_step 16",
        "cache_write local -> sums; C: tile m n 4 16 -> mo no mi ni; C: vectorize ni; sums: compute_at C no; "
        "sums: reorder k m n; sums: unroll m; sums: vectorize n",
        "B: cache_read global -> packed; packed: transform_layout (k, n) -> (n / 16, k, n % 16); "
        "C: split n 16; C: vectorize n.inner; C: parallel m",
        "split k 8; reorder k.outer m k.inner n; B: cache_read global -> panel; panel: compute_at C k.outer; "
        "panel: storage_align i0 16; panel: set_scope global",
        "split k 8 -> ko ki; reorder ko m n ki; B: cache_read global -> BB; BB: compute_at C ko; double_buffer 3"}) {
    cases.push_back(scheduled(
        "matrix product", "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
        {random_data(DType::f32, {13, 11}, 300), random_data(DType::f32, {11, 37}, 301)}, schedule,
        [](const Arguments& in) {
          return one(each(DType::f32, {13, 37}, [&](const Index& i) {
            Element sum;
            for (std::int64_t k = 0; k < 11; ++k) sum.add(in[0](i[0], k) * in[1](k, i[1]));
            return sum;
          }));
        },
        1e-6));
  }
}

// Cases for values computed once from constants: a packed copy, explicit and by default, and a scale folded into
// weights.
void constants(std::vector<ProgramCase>& cases) {
  const std::string source =
      "def dense(float(4,24) A, const float(24,130) B, const float(130) S) -> (C) {\n"
      "  W(k,n) = B(k,n) * (S(n) + 2) where k in 0:24, n in 0:130\n  C(m,n) +=! A(m,k) * W(k,n)\n}";
  const Arguments arguments = {random_data(DType::f32, {4, 24}, 310), random_data(DType::f32, {24, 130}, 311),
                               random_data(DType::f32, {130}, 314)};
  const auto reference = [](const Arguments& in) {
    return one(each(DType::f32, {4, 130}, [&](const Index& i) {
      Element sum;
      for (std::int64_t k = 0; k < 24; ++k) sum.add(in[0](i[0], k) * in[1](k, i[1]) * (in[2](i[1]) + 2));
      return sum;
    }));
  };
  for (const char* schedule :
       {"", "W: compute_root; W: transform_layout (k, n) -> (n / 16, k, n % 16); C: split n 16; C: vectorize n.inner",
        "W: split n 8; W: vectorize n.inner; W: parallel k; C: parallel m"})
    cases.push_back(scheduled("product by packed weights", source, arguments, schedule, reference, 1e-6));
  cases.push_back(scheduled(
      "product by constants", "def mm(float(9,16) A, const float(16,200) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
      {random_data(DType::f32, {9, 16}, 312), random_data(DType::f32, {16, 200}, 313)}, "",
      [](const Arguments& in) {
        return one(each(DType::f32, {9, 200}, [&](const Index& i) {
          Element sum;
          for (std::int64_t k = 0; k < 16; ++k) sum.add(in[0](i[0], k) * in[1](k, i[1]));
          return sum;
        }));
      },
      1e-6));
}

// Integers, so that results are exact.
void blurs(std::vector<ProgramCase>& cases) {
  for (const char* schedule :
       {"X: compute_at B y",
        "tile y x 4 16 -> yo xo yi xi; vectorize xi; parallel yo; X: compute_at B xo; X: vectorize c",
        "X: compute_at B y; X: store_at root",
        "tile y x 8 16 -> yo xo yi xi; X: compute_at B yi; X: store_at B xo; X: split c 8; X: vectorize c.inner",
        "X: compute_inline; B: split x 16; B: vectorize x.inner; B: nontemporal_stores", "inline_injective",
        "X: compute_at B y; X: compute_root", "X: compute_at B y; X: set_scope global; B: parallel y",
        "X: storage_align r 16 1; B: split x 8; B: vectorize x.inner", "X: transform_layout (r, c) -> (c, r)",
        "B: fuse y x -> p; split p 16; vectorize p.inner; X: parallel r"}) {
    cases.push_back(scheduled(
        "blur",
        "def blur(int(H,W) I) -> (B) {\n X(r,c) = I(r,c) + I(r,c+1) + I(r,c+2)\n B(y,x) = X(y,x) + 2 * X(y+1,x) + "
        "X(y+2,x)\n}",
        {random_data(DType::i32, {19, 41}, 302)}, schedule,
        [](const Arguments& in) {
          return one(each(DType::i32, {17, 39}, [&](const Index& i) {
            Element sum;
            for (std::int64_t r = 0; r < 3; ++r)
              for (std::int64_t c = 0; c < 3; ++c) sum.add((r == 1 ? 2 : 1) * in[0](i[0] + r, i[1] + c));
            return sum;
          }));
        },
        0));
  }
}

void totals(std::vector<ProgramCase>& cases) {
  for (const char* schedule :
       {"split i nparts 4; rfactor i.outer -> parts; parts: parallel i.outer",
        "split i 16; rfactor i.inner -> lanes; lanes: reorder i.outer i.inner; lanes: vectorize i.inner",
        "split i 8; vectorize i.inner reduce"}) {
    cases.push_back(scheduled(
        "sum", "def total(float(N) A) -> (S) { S +=! A(i) }", {random_data(DType::f32, {1003}, 303)}, schedule,
        [](const Arguments& in) {
          return one(each(DType::f32, {}, [&](const Index&) {
            Element sum;
            for (const double value : in[0].values) sum.add(value);
            return sum;
          }));
        },
        1e-6));
  }
}

// Lanes whose divisors are constants, some of which are 0, beside vectors whose divisors are all 0.
void divisors(std::vector<ProgramCase>& cases) {
  const std::string source =
      "def f(uint32(M,P) A) -> (S) {\n"
      "  S(i,j) = A(i,j) % (uint32(6) >> uint32(j)) + A(i,j) / (uint32(6) >> uint32(j))\n}";
  for (const char* schedule : {"split j 32; split j.inner 8; unroll j.inner.outer; vectorize j.inner.inner",
                               "split j 8; vectorize j.inner", "split j 64; split j.inner 16; vectorize j.inner.inner"})
    cases.push_back(scheduled(
        "division by a shifted constant", source, {random_data(DType::u32, {2, 37}, 315)}, schedule,
        [](const Arguments& in) {
          return one(each(DType::u32, {2, 37}, [&](const Index& i) {
            const auto value = static_cast<std::uint32_t>(in[0](i[0], i[1]));
            const std::uint32_t divisor = i[1] < 3 ? 6U >> i[1] : 0;
            Element result;
            if (divisor != 0) result.add(value % divisor + value / divisor);
            return result;
          }));
        },
        0));
}

}  // namespace

std::vector<ProgramCase> schedule_cases() {
  std::vector<ProgramCase> cases;
  products(cases);
  constants(cases);
  blurs(cases);
  totals(cases);
  divisors(cases);
  return cases;
}

}  // namespace ferry::test
