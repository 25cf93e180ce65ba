// Real dumps in which a file is truncated, missing or from another compile.
#include "program/dump_files.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/dump_report.h"
#include "input/limits.h"
#include "process.h"
#include "program/xla_dump.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr double kChip = 15.75 * (1 << 30);

// The contents of a module's files by kind: "buffer-assignment".
using Files = std::map<std::string, std::string>;

Files ReadFolder(const std::string& name, const std::string& module) {
  Files files;
  const std::string folder = std::string(WHYOOM_SOURCE_DIR) + "/testdata/" + name;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (path.find("." + module + ".") == std::string::npos) continue;
    const std::string kind = path.substr(path.rfind('.', path.size() - 5) + 1);
    files[kind.substr(0, kind.size() - 4)] = ReadText(path);
  }
  return files;
}

Files Fitting() { return ReadFolder("programs/train-step/dump", "jit_train_step"); }
Files Failing() { return ReadFolder("cases/dump-adam-layers/dump", "jit_train_step"); }

std::string Cut(const std::string& text, std::size_t percent) {
  return text.substr(0, text.find('\n', text.size() * percent / 100) + 1);
}

const std::string kAssignment = "after_optimizations-buffer-assignment";
const std::string kRanges = "after_optimizations-live-range";
const std::string kFailed = "oom_intermediate_module";
const std::string kOptimized = "after_optimizations";
const std::string kBefore = "before_optimizations";

DumpFiles Read(const Files& files, double limit = 0) {
  const ScratchFolder scratch;
  const auto path = [&](const std::string& kind) {
    const auto found = files.find(kind);
    return found == files.end() ? std::string() : scratch.Write(kind + ".txt", found->second);
  };
  return ReadDumpFiles({path(kAssignment), path(kRanges), path(kFailed), path(kOptimized), path(kBefore)}, limit, true,
                       Stop());
}

bool Reports(const DumpFiles& files, const std::string& file, const std::string& what) {
  return files.problem.path.ends_with("/" + file + ".txt") && files.problem.what.find(what) != std::string::npos;
}

void Write(const ScratchFolder& scratch, const std::string& stem, const Files& files, XlaDump* dump) {
  for (const auto& [kind, text] : files) dump->AddFile(scratch.Write(stem + "." + kind + ".txt", text), true);
}

struct Reported {
  std::vector<Failure> failures;
  std::vector<CompiledProgram> programs;
  std::vector<Problem> problems;
};

Reported Report(const XlaDump& dump, std::optional<double> limit = kChip) {
  whyoom::Report found;
  found.table.emplace(BuiltInRules());
  ReportDumps(dump, Engine(BuiltInRules()), limit, &found);
  found.table->AddDump(dump);
  std::vector<Failure> failures = found.table->Finish(&found.problems);
  return {std::move(failures), found.table->programs().Take(), std::move(found.problems)};
}

TEST_CASE("intact files are used without a problem", "[program][dump]") {
  for (const Files& files : {Fitting(), Failing()}) {
    const DumpFiles read = Read(files, kChip);
    CHECK(read.problem.what.empty());
    CHECK(read.usable);
    CHECK(read.whole);
    CHECK(read.failed == files.contains(kFailed));
  }
}

TEST_CASE("a truncated buffer assignment is rejected", "[program][dump]") {
  for (const std::size_t percent : {10, 20, 50, 80, 95}) {
    for (Files files : {Fitting(), Failing()}) {
      INFO(percent);
      files[kAssignment] = Cut(files[kAssignment], percent);
      const DumpFiles read = Read(files);
      // If only a little is missing, the file may still be usable. Then the need must be right.
      if (read.usable)
        CHECK(read.memory.need_bytes == Read(files.contains(kFailed) ? Failing() : Fitting()).memory.need_bytes);
      if (percent <= 80) {
        CHECK_FALSE(read.usable);
        CHECK(Reports(read, kAssignment, "truncated or damaged"));
      }
    }
  }
  Files twice = Fitting();
  twice[kAssignment] += twice[kAssignment];
  CHECK_FALSE(Read(twice).usable);
}

TEST_CASE("without live ranges, the need is still read from the assignment", "[program][dump]") {
  for (Files files : {Fitting(), Failing()}) {
    const std::int64_t need = Read(files).memory.need_bytes;
    const std::string ranges = files[kRanges];
    files[kRanges] = Cut(ranges, 50);
    const DumpFiles cut = Read(files);
    CHECK(cut.usable);
    CHECK_FALSE(cut.whole);
    CHECK(cut.memory.need_bytes == need);
    CHECK(cut.memory.schedule_length == 0);
    CHECK(Reports(cut, kRanges, "truncated or damaged"));
    files.erase(kRanges);
    const DumpFiles missing = Read(files);
    CHECK(missing.memory.need_bytes == need);
    CHECK_FALSE(missing.whole);
    CHECK(Reports(missing, kAssignment, "no live ranges"));
  }
}

TEST_CASE("HLO text that is truncated, duplicated or missing is not used", "[program][dump]") {
  Files files = Fitting();
  const std::string text = files[kOptimized];
  for (const std::string& damaged : {Cut(text, 20), Cut(text, 90), text + "\n" + text}) {
    files[kOptimized] = damaged;
    const DumpFiles read = Read(files);
    CHECK(read.usable);
    CHECK_FALSE(read.whole);
    CHECK(Reports(read, kOptimized, "truncated or damaged"));
  }
  files.erase(kOptimized);
  CHECK(Reports(Read(files), kAssignment, "the folder contains no HLO text of this module"));
  files[kOptimized] = text;
  files[kBefore] = Cut(files[kBefore], 50);
  const DumpFiles read = Read(files);
  CHECK(read.whole);
  CHECK(read.before_rejected);
  CHECK(Reports(read, kBefore, "truncated or damaged"));
}

TEST_CASE("files from another compile are detected by comparison with the others", "[program][dump]") {
  const auto with = [](const std::string& kind, const std::string& text) {
    Files files = Fitting();
    files[kind] = text;
    return Read(files);
  };
  const DumpFiles assignment = with(kAssignment, Failing()[kAssignment]);
  CHECK_FALSE(assignment.usable);
  CHECK(Reports(assignment, kAssignment, "from another compile"));
  const DumpFiles text = with(kOptimized, Failing()[kFailed]);
  CHECK(text.usable);
  CHECK_FALSE(text.whole);
  CHECK(text.text.instructions.empty());
  CHECK(Reports(text, kOptimized, "from another compile"));
  const DumpFiles ranges = with(kRanges, Failing()[kRanges]);
  CHECK_FALSE(ranges.whole);
  CHECK(ranges.memory.schedule_length == 0);
  CHECK(Reports(ranges, kRanges, "from another compile"));
  const DumpFiles before = with(kBefore, ReadFolder("programs/three-programs/dump", "jit_forward")[kBefore]);
  CHECK(before.whole);
  CHECK(before.before_rejected);
  CHECK(Reports(before, kBefore, "from another compile"));
}

TEST_CASE("the same function with another batch size is another compile", "[program][dump]") {
  Files files = Fitting();
  std::string& text = files[kOptimized];
  for (std::size_t at = text.find("[16,1024"); at != std::string::npos; at = text.find("[16,1024", at + 1))
    text[at + 2] = '8';
  CHECK_FALSE(Read(files).whole);
  CHECK(Reports(Read(files), kOptimized, "from another compile"));
}

TEST_CASE("a failed module of an earlier run does not make a fitting program a failure", "[program][dump]") {
  Files files = Fitting();
  files[kFailed] = Failing()[kFailed];
  const DumpFiles read = Read(files);
  CHECK_FALSE(read.failed);
  CHECK(read.whole);
  CHECK(Reports(read, kFailed, "from another compile"));
  // If the optimized module is from a third compile, nothing shows that this compile did not fail.
  Files three = files;
  three[kOptimized] = ReadFolder("programs/three-programs/dump", "jit_forward")[kOptimized];
  CHECK(Read(three).failed);
  CHECK(Reports(Read(three), kFailed, "from another compile than the other files of its module"));
  // The same holds for the same program, compiled for less memory.
  files[kFailed] = files[kOptimized];
  CHECK(Read(files).failed);
  CHECK_FALSE(Read(files, kChip).failed);
  const ScratchFolder scratch;
  XlaDump dump;
  Write(scratch, "module_0000.jit_train_step.cl_1", files, &dump);
  const Reported reported = Report(dump);
  CHECK(reported.failures.empty());
  REQUIRE(reported.programs.size() == 1);
  CHECK(reported.programs[0].estimates->room.largest_batch > 64);
  CHECK(reported.problems.size() == 1);
}

TEST_CASE("each failed compile of a name is reported, and the one that a log reports is found", "[program][dump]") {
  const ScratchFolder scratch;
  XlaDump dump;
  // 10000 is later than 9999, although it sorts before it as text.
  Write(scratch, "module_10000.jit_train_step.cl_1", ReadFolder("cases/dump-padded-points/dump", "jit_rotate_tracks"),
        &dump);
  Write(scratch, "module_9999.jit_train_step.cl_1", Failing(), &dump);
  Write(scratch, "module_0001.jit_train_step.cl_1", Failing(), &dump);
  const Reported reported = Report(dump);
  CHECK(reported.problems.empty());
  REQUIRE(reported.failures.size() == 2);
  const auto taken = [&](std::optional<double> used, std::string* from) {
    Problem problem;
    const std::optional<DumpReading> reading =
        dump.Read("jit_train_step", BuiltInRules().role_words, used, 0, &problem);
    *from = reading ? reading->facts.Text("dump") : problem.what;
    return reading.has_value();
  };
  std::string from;
  CHECK(taken(std::nullopt, &from));
  CHECK(from.find("module_10000") != std::string::npos);
  CHECK(taken(20.42 * (1 << 30), &from));
  CHECK(from.find("module_9999") != std::string::npos);
  CHECK_FALSE(taken(30.0 * (1 << 30), &from));
  CHECK(from.find("from another compile than the log's") != std::string::npos);
}

TEST_CASE("a stopped read returns no partial result and reports why", "[program][dump]") {
  const ScratchFolder scratch;
  XlaDump dump;
  Write(scratch, "module_0000.jit_train_step.cl_1", Failing(), &dump);
  Write(scratch, "module_0001.jit_train_step.cl_1", Failing(), &dump);
  SECTION("stopped by a signal: reported once") {
    ReadControl control;
    control.stop = true;
    dump.StopAt(&control, {});
    const Reported reported = Report(dump);
    CHECK(reported.failures.empty());
    CHECK(reported.programs.empty());
    REQUIRE(reported.problems.size() == 1);
    CHECK(reported.problems[0].what.starts_with("interrupted: "));
    Problem problem;
    CHECK_FALSE(dump.Read("", BuiltInRules().role_words, std::nullopt, 0, &problem));
  }
  SECTION("stopped by the time limit: reported for each module") {
    Limits limits;
    limits.seconds = 1e-9;
    dump.StopAt(nullptr, limits);
    const Reported reported = Report(dump);
    CHECK(reported.failures.empty());
    REQUIRE(reported.problems.size() == 2);
    for (const Problem& problem : reported.problems)
      CHECK(problem.what == "stopped after 1e-09 s (--max-time): cannot determine how much memory the program needs");
  }
  SECTION("not stopped") {
    ReadControl control;
    Limits limits;
    limits.seconds = 3600;
    dump.StopAt(&control, limits);
    const Reported reported = Report(dump);
    CHECK(reported.failures.size() == 1);  // both have the same need
    CHECK(reported.problems.empty());
  }
}

TEST_CASE("a module without a buffer assignment is reported", "[program][dump]") {
  for (Files files : {Fitting(), Failing()}) {
    files.erase(kAssignment);
    const ScratchFolder scratch;
    XlaDump dump;
    Write(scratch, "module_0000.jit_train_step.cl_1", files, &dump);
    const Reported reported = Report(dump);
    CHECK(reported.failures.empty());
    CHECK(reported.programs.empty());
    REQUIRE(reported.problems.size() == 1);
    CHECK(reported.problems[0].what.find("no buffer assignment") != std::string::npos);
  }
  // A compile that stopped before buffer assignment is not a problem.
  const ScratchFolder scratch;
  XlaDump dump;
  Write(scratch, "module_0000.jit_train_step.cl_1", {{kBefore, Fitting()[kBefore]}}, &dump);
  CHECK(Report(dump).problems.empty());
}

}  // namespace TEST_FILE
