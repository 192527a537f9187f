#include "host/cli/options/junit_option.h"

#include "ferry/client.h"
#include "host/cli/options/error_message.h"
#include "host/cli/options/exit_code.h"
#include "host/kernel/file.h"

namespace ferry::cli {

namespace {

void write_report(const std::string& file, const text::JUnitReport& report) {
  const std::string text = text::junit_text(report);
  write_file(file, text.data(), text.size());
}

}  // namespace

void add_junit_option(CLI::App& command, std::string& file) {
  command.add_option("--junit", file, "Also write what was found to this file, as JUnit's XML")
      ->type_name("FILE")
      ->group("Output");
}

int with_junit(const std::string& file, const std::string& suite, const std::function<int(text::JUnitReport&)>& work) {
  text::JUnitReport report{suite, {}};
  if (file.empty()) return work(report);
  expect_writable(file);
  if (is_replaceable(file)) {
    write_report(file,
                 {suite, {{.name = suite, .error = "ferry is still running, or was killed before it could report"}}});
  }
  const auto add = [&](const std::exception& error, bool is_failure) {
    text::JUnitCase& one = report.cases.emplace_back();
    one.name = suite;
    (is_failure ? one.failure : one.error) = error_message(error);
    write_report(file, report);
  };
  int code = kExitFine;
  try {
    code = work(report);
  } catch (const Error& error) {
    add(error, exit_code_of(error.code()) == kExitWrongResult);
    throw;
  } catch (const std::exception& error) {
    add(error, false);
    throw;
  }
  write_report(file, report);
  return code;
}

}  // namespace ferry::cli
