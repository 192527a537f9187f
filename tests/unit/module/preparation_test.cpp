#include "module/preparation.h"

#include <doctest/doctest.h>

namespace ferry {
namespace {

ParameterInfo tensor(const std::string& name, Direction direction) {
  ParameterInfo parameter;
  parameter.name = name;
  parameter.direction = direction;
  return parameter;
}

FunctionInfo function(const std::string& name, std::vector<ParameterInfo> parameters) {
  FunctionInfo info;
  info.name = name;
  info.parameters = std::move(parameters);
  return info;
}

Manifest product() {
  Manifest manifest;
  manifest.functions = {function("other", {tensor("A", Direction::in)}),
                        function("mm", {tensor("A", Direction::in), tensor("B", Direction::in),
                                        tensor("C", Direction::out), tensor("packed", Direction::in)}),
                        function("mm:prepare", {tensor("B", Direction::in), tensor("packed", Direction::out)})};
  return manifest;
}

std::string refusal(const Manifest& manifest) { return callers_functions(manifest).status().message(); }

}  // namespace

TEST_CASE("callers see neither preparations nor the parameters that those make") {
  const Result<std::vector<CallersFunction>> functions = callers_functions(product());
  REQUIRE(functions.is_ok());
  REQUIRE(functions.value().size() == 2);
  const CallersFunction& other = functions.value()[0];
  const CallersFunction& mm = functions.value()[1];
  CHECK(other.info == product().functions[0]);
  CHECK_FALSE(other.preparation.has_value());
  CHECK(mm.info.parameters.size() == 3);
  CHECK(mm.info.parameters.back().name == "C");
  REQUIRE(mm.preparation.has_value());
  CHECK(mm.preparation->name == "mm:prepare");
  CHECK(mm.index == 1);
  CHECK(mm.preparation_index == 2);
}

TEST_CASE("a preparation that does not fit its function is refused, naming the parameter") {
  Manifest unknown = product();
  unknown.functions[2].parameters[0] = tensor("W", Direction::in);
  CHECK(refusal(unknown) == "mm:prepare: expected inputs of mm and then what its last parameters are, got 'W'");
  Manifest unwanted = product();
  unwanted.functions[1].parameters.pop_back();
  CHECK(refusal(unwanted).find("got 'packed'") != std::string::npos);
  Manifest written = product();
  written.functions[1].parameters[3].direction = Direction::inout;
  CHECK(refusal(written).find("got 'packed'") != std::string::npos);
  Manifest scalar = product();
  scalar.functions[2].parameters[0].kind = ParameterKind::scalar;
  CHECK(refusal(scalar).find("got 'B'") != std::string::npos);
  Manifest changing = product();
  changing.functions[2].parameters[0].direction = Direction::inout;
  CHECK(refusal(changing).find("got 'B'") != std::string::npos);
}

}  // namespace ferry
