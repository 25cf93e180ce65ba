// Outputs do not overwrite inputs.
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "catch.h"
#include "cli/output.h"
#include "input/error.h"
#include "process.h"

using namespace whyoom;

namespace TEST_FILE {

// The error for the options, or an empty string.
std::string FaultOf(const Options& options) {
  try {
    const OutputFiles files(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("output must not overwrite an input", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("job.log", "x");
  std::filesystem::create_symlink(log, scratch.path() + "/link");
  Options options;
  options.paths = {log};
  CHECK(FaultOf(options).empty());
  options.output = scratch.path() + "/report";
  CHECK(FaultOf(options).empty());
  for (const std::string& output : {log, scratch.path() + "/./job.log", scratch.path() + "/link"}) {
    options.output = output;
    CHECK(FaultOf(options) == "output would overwrite an input: " + log);
  }
  options.paths = {};
  options.files_from = log;
  CHECK(FaultOf(options) == "output would overwrite an input: " + log);
  options.files_from.clear();
  options.rules = {log};
  CHECK(FaultOf(options) == "output would overwrite an input: " + log);
  options.output = scratch.path() + "/other";
  CHECK(FaultOf(options).empty());
  options.output = "/dev/null";
  options.rules = {"/dev/null"};
  CHECK(FaultOf(options).empty());
  std::filesystem::create_symlink("loop", scratch.path() + "/loop");
  options.output = scratch.path() + "/loop";
  CHECK(FaultOf(options).find("cannot write") != std::string::npos);
}

TEST_CASE("output must not overwrite another output", "[cli]") {
  const ScratchFolder scratch;
  const std::string report = scratch.path() + "/report";
  const auto fault = [&](const std::string& one, const std::string& other) {
    Options options;
    options.output = one;
    options.extra_outputs = {{Format::kJson, other}};
    return FaultOf(options);
  };
  std::filesystem::create_symlink("report", scratch.path() + "/link");
  std::filesystem::create_symlink("link", scratch.path() + "/link2");
  for (const bool exists : {false, true}) {
    if (exists) scratch.Write("report", "x");
    for (const char* other : {"/report", "/./report", "//report", "/link", "/link2"}) {
      INFO(other << " " << exists);
      CHECK(fault(report, scratch.path() + other) ==
            "--format: '" + scratch.path() + other + "' is already another output");
      CHECK(!fault(scratch.path() + other, report).empty());
    }
    CHECK(fault(report, scratch.path() + "/other").empty());
  }
  std::filesystem::create_hard_link(report, scratch.path() + "/same");
  CHECK(!fault(report, scratch.path() + "/same").empty());
  CHECK(fault("/dev/null", "/dev/null").empty());
  Options options;
  options.output = report;
  options.attempts.patch = report;
  CHECK(FaultOf(options) == "--patch: '" + report + "' is already another output");
}

TEST_CASE("inputs found later are checked too", "[cli]") {
  const ScratchFolder scratch;
  Options options;
  options.output = scratch.Write("report", "x");
  const OutputFiles files(options);
  CHECK_NOTHROW(files.ThrowIfOutput(scratch.Write("job.log", "x")));
  CHECK_NOTHROW(files.ThrowIfOutput(scratch.path() + "/missing"));
  CHECK_THROWS_AS(files.ThrowIfOutput(options.output), Error);
}

}  // namespace TEST_FILE
