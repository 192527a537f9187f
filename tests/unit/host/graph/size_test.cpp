#include <doctest/doctest.h>

#include "ferry/error.h"
#include "host/graph/size.h"

namespace ferry::graph {
namespace {

const Size n = Size::symbol("N"), m = Size::symbol("M");

TEST_CASE("sizes without symbols are numbers") {
  CHECK((Size(3) * 4 + 2).constant() == 14);
  CHECK(floor_divide(7, 2).constant() == 3);
  CHECK(floor_divide(-7, 2).constant() == -4);
  CHECK(min(3, Size(5)).constant() == 3);
  CHECK(max(3, Size(5)).constant() == 5);
  CHECK(!n.constant());
}

TEST_CASE("symbols of one name are the same size wherever they were made") {
  CHECK(Size::symbol("N") == n);
  CHECK(Size::symbol("N") - n == 0);
  CHECK((n * 2 + m * n).symbols() == std::vector<std::string>{"N", "M"});
}

TEST_CASE("sizes are equal when that is proved for all values") {
  CHECK((n + 1) * 2 == n * 2 + 2);
  CHECK(floor_divide(n * 4 + 3, 4) == n);
  CHECK(!(n == m));
  CHECK(!(n == 3));
  CHECK(max(n, 0) == n);
  CHECK(min(n, 1) == 1);
}

TEST_CASE("sizes are different or less only when that is proved for all values") {
  CHECK(proves_different(n, -1));
  CHECK(proves_different(n, n + 1));
  CHECK(!proves_different(n, m));
  CHECK(proves_less(n, n + 1));
  CHECK(!proves_less(n, m));
  CHECK(proves_less(0, n));
  CHECK(!proves_less(1, n));
}

TEST_CASE("a size is divided only where nothing is left") {
  CHECK(divide_exactly(n * 6, n) == Size(6));
  CHECK(divide_exactly(n * m * 6, m * 2) == n * 3);
  CHECK(divide_exactly((n + 1) * 4, n + 1) == Size(4));
  CHECK(divide_exactly((n + m) * (n + 1), n + m) == n + 1);
  CHECK(divide_exactly(12, 4) == Size(3));
  CHECK(!divide_exactly(13, 4));
  CHECK(!divide_exactly(n, 2));
  CHECK(!divide_exactly(n + 1, n));
  CHECK(!divide_exactly(4, 0));
}

TEST_CASE("sizes that may be 0 are computed so that they hold for 0") {
  const Size p = Size::symbol("P", true);
  CHECK(max(p, 0) == p);
  CHECK(!(max(p, 1) == p));
  CHECK(!(min(p, 1) == 1));
  CHECK(!(min(p + n, 1) == p));
  CHECK(min(p + n, 1) == 1);
  CHECK(!proves_less(0, p));
  CHECK(!proves_less(0, n * p));
  CHECK(proves_less(0, n + p));
}

TEST_CASE("a division towards zero rounds negative sizes up") {
  const Size size = divide_towards_zero(n - 4, 3);
  CHECK(substitute(size, "N", 2).constant() == 0);
  CHECK(substitute(size, "N", 1).constant() == -1);
  CHECK(substitute(size, "N", 11).constant() == 2);
  CHECK(divide_towards_zero(n, 3) == floor_divide(n, 3));
}

TEST_CASE("a symbol is replaced by its value") {
  CHECK(substitute(n * m + n, "N", m + 1) == (m + 1) * (m + 1));
  CHECK(substitute(n, "M", 3) == n);
}

TEST_CASE("numbers are simpler than symbols, and these than expressions") {
  CHECK(simpler(n, 3).constant() == 3);
  CHECK(simpler(min(n, 40), m) == m);
  CHECK(simpler(n, m) == n);
}

TEST_CASE("shapes print as people write them") {
  CHECK(to_text(Shape{n, 3, 224, 224}) == "[N,3,224,224]");
  CHECK(to_text(n * 3) == "N*3");
  CHECK(to_text(Shape{}) == "[]");
  CHECK(element_count({n, 3, 2}) == n * 6);
  CHECK(element_count({}) == 1);
}

TEST_CASE("a size that a 64-bit integer does not hold is refused") {
  const Size large = std::int64_t{1} << 60;
  CHECK_THROWS_AS(large * 8, CompileError);
  CHECK_THROWS_AS(large * n * 8, CompileError);
  CHECK_THROWS_AS(large + large + large + large, CompileError);
  CHECK_THROWS_AS(floor_divide(n, 0), CompileError);
}

TEST_CASE("an expression that does not fit a manifest is refused before it grows further") {
  Size size = n;
  const auto grow = [&] {
    for (int i = 0; i < 1000; ++i) size = floor_divide(size * m + n * i, i + 2) + 1;
  };
  CHECK_THROWS_AS(grow(), CompileError);
}

TEST_CASE("manifests hold sizes over numbered symbols") {
  const std::vector<std::string> symbols = {"M", "N"};
  const ManifestExpr expr = to_manifest(floor_divide(n + 3, 2) * m, symbols);
  const std::vector<std::int64_t> values = {10, 6};
  CHECK(evaluate(expr, values).value() == 40);
}

}  // namespace
}  // namespace ferry::graph
