// Outputs overwrite neither inputs nor each other.
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "catch.h"
#include "cli/file_writer.h"
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
  for (std::string* read : {&options.files_from, &options.resume}) {
    *read = log;
    CHECK(FaultOf(options) == "output would overwrite an input: " + log);
    read->clear();
  }
  options.rules = {log};
  CHECK(FaultOf(options) == "output would overwrite an input: " + log);
  options.output = scratch.path() + "/other";
  CHECK(FaultOf(options).empty());
  options.output = "/dev/null";
  options.rules = {"/dev/null"};
  CHECK(FaultOf(options).empty());
}

TEST_CASE("two outputs must not use one file", "[cli]") {
  const ScratchFolder scratch;
  const std::string old = scratch.Write("old", "x");
  std::filesystem::create_hard_link(old, scratch.path() + "/same");
  Options options;
  const auto both = [&](const std::string& one, const std::string& other) {
    options.output = one;
    options.extra_outputs.resize(1);
    options.extra_outputs[0].path = other;
    return FaultOf(options);
  };
  CHECK(both(scratch.path() + "/a", scratch.path() + "/b").empty());
  const std::string again = scratch.path() + "/./a";
  CHECK(both(scratch.path() + "/a", again) == "two outputs for the same file: " + again);
  CHECK(both(old, scratch.path() + "/same") == "two outputs for the same file: " + scratch.path() + "/same");
  CHECK(both("/dev/null", "/dev/null").empty());
  std::filesystem::create_directory_symlink(".", scratch.path() + "/here");
  const std::string same = scratch.path() + "/here/a";
  CHECK(both(scratch.path() + "/a", same) == "two outputs for the same file: " + same);
  std::filesystem::create_symlink("loop", scratch.path() + "/loop");
  CHECK(both(scratch.path() + "/a", scratch.path() + "/loop").find("cannot write") != std::string::npos);
}

TEST_CASE("output must not overwrite the journal of --resume", "[cli]") {
  const ScratchFolder scratch;
  Options options;
  options.resume = scratch.path() + "/state";
  for (const char* name : {"/state", "/./state"}) {
    INFO(name);
    options.output = scratch.path() + name;
    CHECK(FaultOf(options) == "output would overwrite the journal of --resume: " + options.resume);
  }
  options.output = scratch.path() + "/state.json";
  CHECK(FaultOf(options).empty());
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
