#include "host/tune/task/program_hash.h"

#include "ferry/lang/text.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

using namespace ferry;
using tune::program_hash;
using Sizes = std::map<std::string, std::int64_t>;

namespace {

Hash hash_of(const std::string& source, const Sizes& sizes = {}, const lang::FixedSizes& fixed = {}) {
  return program_hash(lang::parse(source, "test.tc", false, fixed).at(0), sizes);
}

const char* const kProduct = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

}  // namespace

TEST_CASE("names have no part in the hash of a program") {
  const Hash product = hash_of(kProduct, {{"M", 5}, {"K", 7}, {"N", 9}});
  CHECK(product == hash_of(kProduct, {{"M", 5}, {"K", 7}, {"N", 9}, {"other", 3}}));
  CHECK(product == hash_of("# a comment\n"
                           "def product(float(R,D) left, float(D,S) right) -> (result) {\n"
                           "  result(r,s) +=! left(r,d) * right(d,s)\n}",
                           {{"R", 5}, {"D", 7}, {"S", 9}}));
  const std::string two = "def f(float(N) A) -> (C) { B(i) = A(i) + 1\n C(i) = B(i) * B(i) }";
  CHECK(hash_of(two) == hash_of("def f(float(N) X) -> (Z) { Y(j) = X(j) + 1\n Z(k) = Y(k) * Y(k) }"));
}

TEST_CASE("what a program computes, of which types and sizes, gives another hash") {
  const Sizes sizes = {{"M", 5}, {"K", 7}, {"N", 9}};
  std::set<Hash> hashes = {hash_of(kProduct, sizes)};
  std::size_t count = 1;
  const auto differs = [&](const Hash& hash, const char* what) {
    hashes.insert(hash);
    CHECK_MESSAGE(hashes.size() == ++count, what);
  };
  differs(hash_of(kProduct), "no sizes");
  differs(hash_of(kProduct, {{"M", 6}, {"K", 7}, {"N", 9}}), "another size");
  differs(hash_of(kProduct, {{"M", 5}, {"K", 7}}), "a size that is not known");
  differs(hash_of(kProduct, sizes, {{"M", 5}}), "one size fixed");
  differs(hash_of(kProduct, sizes, {{"M", 5}, {"K", 7}, {"N", 9}}), "all sizes fixed");
  differs(hash_of("def mm(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", sizes), "type");
  differs(hash_of("def mm(float(M,K) A, const float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", sizes), "constant");
  differs(hash_of("def mm(float(K,M) A, float(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }", sizes), "transposed");
  differs(hash_of("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) max=! A(m,k) * B(k,n) }", sizes), "reduction");
  differs(hash_of("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) + B(k,n) }", sizes), "operation");
  differs(hash_of("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * 2 * B(k,n) }", sizes), "constant 2");
  differs(hash_of("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * 3 * B(k,n) }", sizes), "constant 3");
  differs(hash_of("def mm(float(M,K) A, float(K,N) B) -> (D) { C(m,n) +=! A(m,k) * B(k,n)\n D(m,n) = C(m,n) }", sizes),
          "a second stage");
  differs(
      hash_of("def mm(float(M,K) A, float(K,N) B) -> (C, D) { C(m,n) +=! A(m,k) * B(k,n)\n D(m,n) = C(m,n) }", sizes),
      "a second result");
}

TEST_CASE("the hash of a program stays the same from version to version") {
  CHECK(to_hex(hash_of(kProduct, {{"M", 5}, {"K", 7}, {"N", 9}})) ==
        "47bb33c9cf20c94b6c2ea03b693ba0ef171f28011751022c4e6645d5d4167a88");
}

TEST_CASE("a program has the same hash however often it is read, and whoever makes it") {
  using namespace ferry::lang;
  const auto make = [](const char* name) {
    const Expr n = var(std::string(name) + "n");
    const Tensor a = placeholder({n}, DType::f32, std::string(name) + "a");
    return make_program(name, {in(a), out(compute({n}, [&](auto& i) { return a(i[0]) * a(i[0]); }, name))});
  };
  CHECK(program_hash(make("x"), {}) == program_hash(make("y"), {}));
  CHECK(program_hash(make("x"), {}) == hash_of("def f(float(N) A) -> (B) { B(i) = A(i) * A(i) }"));
}
