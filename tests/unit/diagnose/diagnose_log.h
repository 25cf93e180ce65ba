// Returns the only failure of a log, by the built-in rules.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "program/xla_dump.h"
#include "read/engine.h"

inline whyoom::Failure Diagnose(const std::string& log, const whyoom::XlaDump& dump = {}) {
  static const whyoom::Engine engine(BuiltInRules());
  whyoom::Report report = ReadArtifact(engine, {"job.log", ""}, *whyoom::OpenMemory(log));
  REQUIRE(report.table);
  std::vector<whyoom::Problem> problems;
  report.table->AddDump(dump);
  std::vector<whyoom::Failure> failures = report.table->Finish(&problems);
  INFO(log);
  REQUIRE(failures.size() == 1);
  return failures[0];
}
