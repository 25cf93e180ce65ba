// No report is written over what is read, or over another one.
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "catch.h"
#include "cli/file_writer.h"
#include "cli/inputs.h"
#include "input/error.h"
#include "process.h"

using namespace whyoom;

namespace TEST_FILE {

// What is wrong with the options; empty where nothing is.
std::string FaultOf(const Options& options) {
  try {
    const OutputFiles files(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a report that would be written over what is read", "[cli]") {
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
    CHECK(FaultOf(options) == "a report would overwrite what is read: " + log);
  }
  options.paths = {};
  for (std::string* read : {&options.files_from, &options.resume}) {
    *read = log;
    CHECK(FaultOf(options) == "a report would overwrite what is read: " + log);
    read->clear();
  }
  options.rules = {log};
  CHECK(FaultOf(options) == "a report would overwrite what is read: " + log);
  options.rules = {scratch.path()};
  CHECK(FaultOf(options).starts_with("a report would overwrite what is read: " + scratch.path()));
  options.output = scratch.path() + "/other";
  CHECK(FaultOf(options).empty());
  options.output = "/dev/null";
  options.rules = {"/dev/null"};
  CHECK(FaultOf(options).empty());
}

TEST_CASE("two reports for one file", "[cli]") {
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
  const std::string again = scratch.path() + "/x/../a";
  CHECK(both(scratch.path() + "/a", again) == "two reports for one file: " + again);
  CHECK(both(old, scratch.path() + "/same") == "two reports for one file: " + scratch.path() + "/same");
  CHECK(both("/dev/null", "/dev/null").empty());
  // A link to what is not there yet is that file.
  std::filesystem::create_symlink("a", scratch.path() + "/link");
  std::filesystem::create_directory_symlink(".", scratch.path() + "/here");
  for (const std::string name : {"/link", "/here/a", "/here/link"})
    CHECK(both(scratch.path() + "/a", scratch.path() + name) == "two reports for one file: " + scratch.path() + name);
  std::filesystem::create_symlink("loop", scratch.path() + "/loop");
  CHECK(both(scratch.path() + "/a", scratch.path() + "/loop").empty());
}

TEST_CASE("a report for the summary of a step, which is written as well", "[cli]") {
  const ScratchFolder scratch;
  const std::string summary = scratch.path() + "/summary";
  const char* const before = std::getenv("GITHUB_STEP_SUMMARY");
  const std::optional<std::string> saved = before == nullptr ? std::nullopt : std::optional<std::string>(before);
  setenv("GITHUB_STEP_SUMMARY", summary.c_str(), 1);
  Options options;
  options.output = summary;
  CHECK(FaultOf(options).empty());
  options.step_summary = true;
  CHECK(FaultOf(options) == "two reports for one file: " + summary);
  options.output = scratch.path() + "/report";
  CHECK(FaultOf(options).empty());
  saved ? setenv("GITHUB_STEP_SUMMARY", saved->c_str(), 1) : unsetenv("GITHUB_STEP_SUMMARY");
}

TEST_CASE("a report for the journal of --resume", "[cli]") {
  const ScratchFolder scratch;
  Options options;
  options.resume = scratch.path() + "/state";
  for (const char* name : {"/state", "/./state"}) {
    INFO(name);
    options.output = scratch.path() + name;
    CHECK(FaultOf(options) == "a report would overwrite the journal of --resume: " + options.resume);
  }
  options.output = scratch.path() + "/state.json";
  CHECK(FaultOf(options).empty());
}

TEST_CASE("a file that comes later is kept as well", "[cli]") {
  const ScratchFolder scratch;
  Options options;
  options.output = scratch.Write("report", "x");
  const OutputFiles files(options);
  CHECK_NOTHROW(files.ThrowIfOutput(scratch.Write("job.log", "x")));
  CHECK_NOTHROW(files.ThrowIfOutput(scratch.path() + "/missing"));
  CHECK_THROWS_AS(files.ThrowIfOutput(options.output), Error);
}

TEST_CASE("what tells whether a file is still the one that was read", "[cli]") {
  const ScratchFolder scratch;
  const std::string path = scratch.Write("a", "12345");
  const FileStamp stamp = StampOf(path);
  CHECK(stamp.regular);
  CHECK(stamp.size == 5);
  CHECK(stamp.modified > 1'700'000'000LL * 1'000'000'000);
  CHECK(stamp.inode == StampOf(path).inode);
  CHECK(stamp.inode != StampOf(scratch.Write("b", "12345")).inode);
  for (const std::string& other :
       {std::string("-"), scratch.path(), scratch.path() + "/missing", std::string("/dev/null")}) {
    INFO(other);
    CHECK_FALSE(StampOf(other).regular);
  }
}

}  // namespace TEST_FILE
