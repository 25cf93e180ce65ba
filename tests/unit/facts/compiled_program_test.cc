#include "facts/compiled_program.h"

#include <string>
#include <vector>

#include "catch.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "read/engine.h"
#include "rules/rule_set.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr const char* kStatement =
    "CompiledMemoryStats(generated_code_size_in_bytes=4096, argument_size_in_bytes=1073741824, "
    "output_size_in_bytes=536870912, alias_size_in_bytes=268435456, temp_size_in_bytes=2147483648, "
    "host_generated_code_size_in_bytes=0, host_argument_size_in_bytes=8, host_output_size_in_bytes=0, "
    "host_alias_size_in_bytes=0, host_temp_size_in_bytes=0)";

ProgramTable Read(const std::string& log, std::size_t* failures = nullptr) {
  static const RuleSet rules = RuleSource().rules();
  static const Engine engine(rules);
  Report report = ReadArtifact(engine, {"", ""}, *OpenMemory(log));
  if (failures != nullptr) *failures = report.table ? report.table->entries().size() : 0;
  return report.table ? std::move(report.table->programs()) : ProgramTable();
}

double NumberOf(const CompiledProgram& program, const char* name) {
  return AsNumber(program.facts.Get(name)).value_or(-1);
}

CompiledProgram Made(double need, const std::string& path) {
  CompiledProgram program;
  program.basis = "log";
  program.facts.Set("need_bytes", need, {});
  program.where.artifact.path = path;
  Identify(&program);
  return program;
}

TEST_CASE("a statement in a log yields a program and its memory need", "[facts][statement]") {
  std::size_t failures = 1;
  ProgramTable table = Read("start\nMemory analysis: " + std::string(kStatement) + "\nstep 1\n", &failures);
  CHECK(failures == 0);
  const std::vector<CompiledProgram> programs = table.Take();
  REQUIRE(programs.size() == 1);
  CHECK(programs[0].basis == "log");
  CHECK(programs[0].where.line == 2);
  CHECK(NumberOf(programs[0], "need_bytes") == 1073741824.0 + 536870912 - 268435456 + 2147483648.0);
  CHECK(NumberOf(programs[0], "host_bytes") == 8);
}

TEST_CASE("a statement that is wrapped or has a line prefix is recognized", "[facts][statement]") {
  std::string wrapped = kStatement;
  wrapped.replace(wrapped.find(", output_size"), 2, ",\n    ");
  CHECK(Read(wrapped + "\n").programs().size() == 1);
  CHECK(Read("I1120 10:15:42.120345     881 train.py:3] " + std::string(kStatement) + "\n").programs().size() == 1);
}

TEST_CASE("repeated statements are one program, and those without a memory need are ignored", "[facts][statement]") {
  std::string log;
  for (int i = 0; i < 1000; ++i) log += std::string(kStatement) + "\nstep " + std::to_string(i) + "\n";
  const std::vector<CompiledProgram> programs = Read(log).Take();
  REQUIRE(programs.size() == 1);
  CHECK(programs[0].occurrences == 1000);
  CHECK(Read("CompiledMemoryStats(generated_code_size_in_bytes=1, argument_size_in_bytes=0, output_size_in_bytes=0, "
             "alias_size_in_bytes=0, temp_size_in_bytes=0)\n")
            .empty());
  CHECK(Read("print(CompiledMemoryStats(argument_size_in_bytes=...))\n").empty());
}

TEST_CASE("MaxText's memory lines yield a program", "[facts][statement]") {
  const auto programs =
      Read(
          "Total memory size: 9.8 GB, Output size: 3.1 GB, Temp size: 6.5 GB, Argument size: 3.3 GB, Host temp size: "
          "0.0 GB.\n")
          .Take();
  REQUIRE(programs.size() == 1);
  CHECK(NumberOf(programs[0], "need_bytes") == Approx(9.8 * (1 << 30)));
}

TEST_CASE("a log can contain a failure and a statement", "[facts][statement]") {
  std::size_t failures = 0;
  const auto programs = Read(std::string(kStatement) +
                                 "\nRan out of memory in memory space hbm. Used 22.89G of 15.75G hbm. Exceeded hbm "
                                 "capacity by 7.14G.\n",
                             &failures)
                            .Take();
  CHECK(programs.size() == 1);
  CHECK(failures == 1);
}

TEST_CASE("joining tables of programs gives the same table in any order", "[facts]") {
  ProgramTable one;
  ProgramTable other;
  for (int i = 0; i < 150; ++i) (i % 3 == 0 ? one : other).Add(Made(1000 + i % 120, i % 2 == 0 ? "a" : "b"));
  ProgramTable forth = one;
  forth.Join(other);
  ProgramTable back = other;
  back.Join(one);
  CHECK(forth.left_out() == back.left_out());
  const auto a = forth.Take();
  const auto b = back.Take();
  REQUIRE(a.size() == ProgramTable::kMost);
  REQUIRE(b.size() == a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].id == b[i].id);
    CHECK(a[i].occurrences == b[i].occurrences);
    CHECK(a[i].where.artifact.path == b[i].where.artifact.path);
  }
  CHECK(NumberOf(a.front(), "need_bytes") == 1119);
}

}  // namespace TEST_FILE
