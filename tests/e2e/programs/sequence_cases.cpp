// Cases for statements that run in order along an index: recurrences and updates of computed elements.
#include <algorithm>

#include "ferry/lang/math.h"
#include "ferry/lang/sequence.h"
#include "ferry/lang/tensor.h"
#include "tests/e2e/programs/program_case.h"

namespace ferry::test {

namespace {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;
using Fill = std::function<void(const Arguments&, std::vector<Element>&)>;

// A case with one output, whose elements `fill` computes in row-major order.
ProgramCase sequence(std::string name, std::string source, Arguments arguments, DType type, Index shape, Fill fill,
                     double tolerance = 0) {
  return {std::move(name), std::move(source), std::move(arguments),
          [type, shape, fill](const Arguments& in) {
            std::vector<Element> elements(static_cast<std::size_t>(count(shape)));
            fill(in, elements);
            std::size_t next = 0;
            return std::vector<Expected>{each(type, shape, [&](const Index&) { return elements[next++]; })};
          },
          tolerance};
}

std::size_t at(std::int64_t row, std::int64_t columns, std::int64_t column) {
  return static_cast<std::size_t>(row * columns + column);
}

void scans(std::vector<ProgramCase>& cases) {
  const Fill rows = [](const Arguments& in, std::vector<Element>& out) {
    for (std::int64_t i = 0; i < in[0].dim(0); ++i) {
      Element sum;
      for (std::int64_t j = 0; j < in[0].dim(1); ++j) {
        sum.add(in[0](i, j));
        out[at(i, in[0].dim(1), j)] = sum;
      }
    }
  };
  const Fill columns = [](const Arguments& in, std::vector<Element>& out) {
    for (std::int64_t j = 0; j < in[0].dim(1); ++j) {
      Element sum;
      for (std::int64_t i = 0; i < in[0].dim(0); ++i) {
        sum.add(in[0](i, j));
        out[at(i, in[0].dim(1), j)] = sum;
      }
    }
  };
  for (const DType type : {DType::i32, DType::i64, DType::f32, DType::f64}) {
    const std::string name = dtype_name(type);
    cases.push_back(sequence("running sums of rows of " + name,
                             "def f(" + name + "(M,N) X) -> (S) { S(i,j) = X(i,j) + (j >= 1 ? S(i,j-1) : 0) along j }",
                             {random_data(type, {13, 37}, 700)}, type, {13, 37}, rows, 1e-6));
    cases.push_back(sequence("running sums of columns of " + name,
                             "def f(" + name + "(M,N) X) -> (S) { S(i,j) = X(i,j) + (i >= 1 ? S(i-1,j) : 0) along i }",
                             {random_data(type, {13, 37}, 701)}, type, {13, 37}, columns, 1e-6));
    cases.push_back(sequence("running sums of columns in place of " + name,
                             "def f(" + name + "(M,N) S) -> (S) { S(i,j) += S(i-1,j) along i }",
                             {random_data(type, {7, 67}, 702)}, type, {7, 67}, columns, 1e-6));
  }
  cases.push_back(sequence("running sums of no row", "def f(float(M,N) S) -> (S) { S(i,j) += S(i-1,j) along i }",
                           {random_data(DType::f32, {0, 67}, 703)}, DType::f32, {0, 67}, columns));
  cases.push_back(sequence("Fibonacci's numbers",
                           "def f(int64 (N) X) -> (F) { F(j) = j >= 2 ? F(j-1) + F(j-2) : X(j) along j }",
                           {Data{DType::i64, {50}, std::vector<double>(50, 1)}}, DType::i64, {50},
                           [](const Arguments&, std::vector<Element>& out) {
                             for (std::size_t j = 0; j < out.size(); ++j)
                               out[j] = {j >= 2 ? out[j - 1].value + out[j - 2].value : 1, 1};
                           }));
  cases.push_back(sequence(
      "the steps of a recurrent network",
      "def f(double(T,N) X, double(N,N) W) -> (H) {\n"
      "  H(t,n) = X(t,n) where t in 0:T, n in 0:N\n  H(t,n) += W(n,k) * H(t-1,k) / N along t\n}",
      {random_data(DType::f64, {9, 21}, 704), random_data(DType::f64, {21, 21}, 705)}, DType::f64, {9, 21},
      [](const Arguments& in, std::vector<Element>& out) {
        for (std::int64_t t = 0; t < 9; ++t)
          for (std::int64_t n = 0; n < 21; ++n) {
            Element sum;
            sum.add(in[0](t, n));
            for (std::int64_t k = 0; t > 0 && k < 21; ++k) sum.add(in[1](n, k) * out[at(t - 1, 21, k)].value / 21);
            out[at(t, 21, n)] = sum;
          }
      },
      1e-13));
  cases.push_back(sequence("a running greatest value that a later stage reads",
                           "def f(float16(M,N) X) -> (Y) {\n"
                           "  S(i,j) = max(X(i,j), j >= 1 ? S(i,j-1) : -9) along j\n  Y(i,j) = S(i,N-1-j) + S(i,j)\n}",
                           {random_data(DType::f16, {11, 19}, 706)}, DType::f16, {11, 19},
                           [](const Arguments& in, std::vector<Element>& out) {
                             const auto top = [&](std::int64_t i, std::int64_t end) {
                               double most = -9;
                               for (std::int64_t j = 0; j <= end; ++j) most = std::max(most, in[0](i, j));
                               return most;
                             };
                             for (std::int64_t i = 0; i < 11; ++i)
                               for (std::int64_t j = 0; j < 19; ++j)
                                 out[at(i, 19, j)] = {top(i, 18 - j) + top(i, j), 1};
                           }));
  const lang::Expr n = lang::var("n"), m = lang::var("m");
  const lang::Tensor x = lang::placeholder({n, m}, DType::f32, "X");
  const lang::Tensor s = lang::scan(
      {n, m}, DType::f32, 1,
      [&](const auto& i, const lang::Tensor& self) {
        return x(i) + ir::if_then_else(i[1] >= 1, self(i[0], i[1] - 1), 0.0F);
      },
      "S");
  ProgramCase built =
      sequence("a scan built in C++", "", {random_data(DType::f32, {5, 33}, 707)}, DType::f32, {5, 33}, rows, 1e-6);
  built.built = lang::make_program("f", {lang::in(x), lang::out(s)});
  cases.push_back(std::move(built));
}

Data places(Index shape, std::int64_t below, std::uint64_t seed) {
  Data data = random_data(DType::i32, std::move(shape), seed);
  for (double& value : data.values) value = static_cast<double>((static_cast<std::int64_t>(value) + 7) % below);
  return data;
}

void updates(std::vector<ProgramCase>& cases) {
  const Data rows = places({41}, 11, 710);
  cases.push_back(sequence(
      "a histogram", "def f(int32(N) I, int B) -> (H) { H(b) = 0 where b in 0:B  H(I(u)) += 1 along u }",
      {rows, scalar_data(DType::i64, 11)}, DType::i32, {11}, [](const Arguments& in, std::vector<Element>& out) {
        for (std::int64_t u = 0; u < 41; ++u) out[static_cast<std::size_t>(in[0](u))].add(1);
      }));
  struct Kind {
    const char* op;
    double (*combine)(double, double);
  };
  const Kind kinds[] = {{"=", [](double, double b) { return b; }},
                        {"+=", [](double a, double b) { return a + b; }},
                        {"*=", [](double a, double b) { return a * b; }},
                        {"min=", [](double a, double b) { return std::min(a, b); }},
                        {"max=", [](double a, double b) { return std::max(a, b); }}};
  for (const Kind& kind : kinds)
    for (const DType type : {DType::i32, DType::f32})
      for (const char* element : {"(I(u),j)", "(j,I(u))"}) {
        const bool by_row = element[1] == 'I';
        const Index shape = by_row ? Index{11, 35} : Index{35, 11};
        // Few updates of one element, and small ones, so that products stay exact.
        Data values = random_data(DType::i32, {41, 35}, 711), before = random_data(DType::i32, shape, 712);
        for (double& value : values.values) value = static_cast<int>(value) % 3 == 0 ? -1 : 1 + (value > 5 ? 1 : 0);
        values.dtype = before.dtype = type;
        cases.push_back(sequence(
            std::string("rows of ") + dtype_name(type) + " chosen for '" + kind.op + "' at Y" + element,
            std::string("def f(int32(N) I, ") + dtype_name(type) + "(N,M) X, " + dtype_name(type) +
                "(P,Q) Y) -> (Y) { Y" + element + " " + kind.op + " X(u,j) along u }",
            {rows, values, before}, type, shape, [kind, by_row](const Arguments& in, std::vector<Element>& out) {
              for (std::size_t e = 0; e < out.size(); ++e) out[e] = {in[2].values[e], 1};
              for (std::int64_t u = 0; u < 41; ++u)
                for (std::int64_t j = 0; j < 35; ++j) {
                  const auto row = static_cast<std::int64_t>(in[0](u));
                  double& value = out[by_row ? at(row, 35, j) : at(j, 11, row)].value;
                  value = kind.combine(value, in[1](u, j));
                }
            }));
      }
  const lang::Expr n = lang::var("n"), b = lang::var("b");
  const lang::Tensor i = lang::placeholder({n}, DType::i32, "I"), w = lang::placeholder({n}, DType::f64, "W");
  const lang::Tensor h = lang::placeholder({b}, DType::f64, "H");
  const lang::Tensor sums = lang::scatter(
      h, {n}, 0, lang::Update::sum, [&](const auto& u) { return lang::ScatterElement{{lang::Expr(i(u))}, w(u)}; }, "S");
  ProgramCase built = sequence(
      "a weighted histogram built in C++", "",
      {rows, random_data(DType::f64, {41}, 713), random_data(DType::f64, {11}, 714)}, DType::f64, {11},
      [](const Arguments& in, std::vector<Element>& out) {
        for (std::int64_t e = 0; e < 11; ++e) out[static_cast<std::size_t>(e)].add(in[2](e));
        for (std::int64_t u = 0; u < 41; ++u) out[static_cast<std::size_t>(in[0](u))].add(in[1](u));
      },
      1e-14);
  built.built = lang::make_program("f", {lang::in(i), lang::in(w), lang::in(h), lang::out(sums)});
  cases.push_back(std::move(built));
}

void refused(std::vector<ProgramCase>& cases) {
  for (const std::int64_t wrong : {-1, 11}) {
    Data rows = places({41}, 11, 715);
    rows.values[40] = static_cast<double>(wrong);
    cases.push_back({"an update of element " + std::to_string(wrong) + " of 11 is refused",
                     "def f(int32(N) I, float(M) Y) -> (Y) { Y(I(u)) += 1 along u }",
                     {rows, random_data(DType::f32, {11}, 716)},
                     {}});
    cases.back().failure = "'Y' is updated outside its shape: expected i64(I[u]) as index 1 to stay within 0:M";
  }
  // Places built in C++ that depend on no element are checked as well.
  const lang::Expr n = lang::var("n"), b = lang::var("b");
  const lang::Tensor w = lang::placeholder({n}, DType::f32, "W"), h = lang::placeholder({b}, DType::f32, "H");
  for (const std::int64_t updates : {6, 7}) {
    const lang::Tensor sums = lang::scatter(
        h, {n}, 0, lang::Update::sum, [&](const auto& u) { return lang::ScatterElement{{u[0] * lang::Expr(2)}, w(u)}; },
        "S");
    ProgramCase built = sequence("every second element is updated, " + std::to_string(updates) + " of 11", "",
                                 {random_data(DType::f32, {updates}, 717), random_data(DType::f32, {11}, 718)},
                                 DType::f32, {11}, [updates](const Arguments& in, std::vector<Element>& out) {
                                   for (std::int64_t e = 0; e < 11; ++e) {
                                     out[static_cast<std::size_t>(e)].add(in[1](e));
                                     if (e % 2 == 0 && e / 2 < updates)
                                       out[static_cast<std::size_t>(e)].add(in[0](e / 2));
                                   }
                                 });
    built.built = lang::make_program("f", {lang::in(w), lang::in(h), lang::out(sums)});
    if (updates == 7) built.failure = "'S' is updated outside its shape: expected i0 * 2 as index 1 to stay within 0:b";
    cases.push_back(std::move(built));
  }
}

}  // namespace

std::vector<ProgramCase> sequence_cases() {
  std::vector<ProgramCase> cases;
  scans(cases);
  updates(cases);
  refused(cases);
  return cases;
}

}  // namespace ferry::test
