// Which modules of a dump folder are reported, and against which limit. program/dump_files_test.cc tests damaged dumps.
#include "diagnose/dump_report.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "process.h"

using namespace whyoom;

namespace TEST_FILE {

// A dump of modules with given sizes.
class Dump {
 public:
  void Add(const std::string& stem, std::int64_t bytes, bool failed = false) {
    const std::string size = std::to_string(bytes);
    Write(stem + ".after_optimizations-buffer-assignment.txt",
          "BufferAssignment:\nallocation 0: size " + size +
              ", page 0, preallocated-temp:\n value: <9 a @0> (size=" + size + ",offset=0): f32[1024]{0:T(1024)}\n");
    const std::string module = "HloModule m\n\nENTRY %main {\n  ROOT %a = f32[1024]{0} iota(), iota_dimension=0\n}\n";
    if (failed) Write(stem + ".oom_intermediate_module.txt", module);
  }
  void Write(const std::string& name, const std::string& text) { dump_.AddFile(scratch_.Write(name, text), true); }

  // Returns "E1000 20 of 10; program 5" in GB, then the problems.
  std::string Report(std::optional<double> limit = std::nullopt) const {
    whyoom::Report found;
    found.table.emplace(BuiltInRules());
    ReportDumps(dump_, Engine(BuiltInRules()), limit, &found);
    CHECK(found.bytes > 0);
    FailureTable& table = *found.table;
    std::vector<Problem>& problems = found.problems;
    const auto gb = [](const Evidence& facts, const char* name) {
      return fmt::format("{:g}", facts.Number(name).value_or(0) / 1e9);
    };
    std::string shown;
    for (const Failure& failure : table.Finish(&problems))
      shown += fmt::format("{} {} of {}; ", failure.rule->code, gb(failure.facts, "used_bytes"),
                           gb(failure.facts, "limit_bytes"));
    const std::uint64_t left_out = table.programs().left_out();
    for (const CompiledProgram& program : table.programs().Take()) {
      shown += fmt::format("program {}", gb(program.facts, "need_bytes"));
      if (program.facts.Find("limit_bytes") != nullptr)
        shown += " of " + gb(program.facts, "limit_bytes") + " " + program.facts.Text("chip");
      shown += "; ";
    }
    if (left_out > 0) shown += fmt::format("and {}; ", left_out);
    for (const Problem& problem : problems) shown += "! " + problem.what + "; ";
    return shown;
  }

 private:
  ScratchFolder scratch_;
  XlaDump dump_;
};

std::string Stem(int number, const std::string& name = "jit_step") {
  return fmt::format("module_{:04}.{}.cl_7", number, name);
}

constexpr std::int64_t kGB = 1'000'000'000;

TEST_CASE("a limit is a size or the name of a chip", "[diagnose]") {
  CHECK(ParseLimit("15.75G", BuiltInRules()) == 16911433728.0);
  CHECK(ParseLimit("1", BuiltInRules()) == 1.0);
  const Chip& chip = BuiltInRules().chips.front();
  CHECK(ParseLimit(chip.id, BuiltInRules()) == chip.limits.front());
  for (const char* text : {"", "0", "-5G", "v5x", "fast"}) {
    INFO(text);
    CHECK_FALSE(ParseLimit(text, BuiltInRules()));
  }
}

TEST_CASE("at most a dozen fitting programs are reported, each at least a few percent of the largest", "[diagnose]") {
  Dump dump;
  dump.Add(Stem(1, "jit_large"), 100 * kGB);
  dump.Add(Stem(2, "jit_some"), 3 * kGB);
  dump.Add(Stem(3, "jit_small"), 3 * kGB - 1000000);
  CHECK(dump.Report(200e9).starts_with("program 100 of 200 ; program 3 of 200 ; !"));
  Dump many;
  for (int i = 0; i < 15; ++i) many.Add(Stem(i, fmt::format("jit_{}", i)), (i + 1) * kGB);
  const std::string shown = many.Report();
  CHECK(shown.starts_with("program 15; program 14; "));
  CHECK(shown.find("; program 4; and 3; !") != std::string::npos);
}

TEST_CASE("an unreadable module is reported only if no other module can be read", "[diagnose]") {
  Dump dump;
  dump.Add(Stem(1, "jit_step"), 100 * kGB);
  const std::string alone = dump.Report(200e9);
  dump.Write(Stem(2, "jit_cut") + ".after_optimizations-buffer-assignment.txt", "BufferAssign");
  CHECK(dump.Report(200e9) == alone);
  Dump cut;
  cut.Write(Stem(2, "jit_cut") + ".after_optimizations-buffer-assignment.txt", "BufferAssign");
  CHECK(cut.Report(200e9).starts_with("! "));
}

TEST_CASE("if modules failed, only those are reported: each name and need once, at most the last dozen", "[diagnose]") {
  Dump dump;
  dump.Add(Stem(1), 5 * kGB);
  dump.Add(Stem(2), 20 * kGB, true);
  dump.Add(Stem(3), 20 * kGB, true);
  dump.Add(Stem(4), 21 * kGB, true);
  CHECK(dump.Report(10e9).find("E1000 20 of 10; ") != std::string::npos);
  CHECK(dump.Report(10e9).find("E1000 21 of 10; ") != std::string::npos);
  CHECK(dump.Report(10e9).find("program") == std::string::npos);
  Dump many;
  for (int i = 0; i < 14; ++i) many.Add(Stem(i), (20 + i) * kGB, true);
  const std::string shown = many.Report(10e9);
  CHECK(shown.find("E1000 33 of 10; ") != std::string::npos);
  CHECK(shown.find("E1000 22 of 10; ") != std::string::npos);
  CHECK(shown.find("E1000 21 of 10; ") == std::string::npos);
  CHECK(shown.find("! earlier failures of this module were dropped; ") != std::string::npos);
}

}  // namespace TEST_FILE
