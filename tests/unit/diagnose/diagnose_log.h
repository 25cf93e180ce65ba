// Returns the only finding of a log, by the built-in rules.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/readings.h"
#include "program/xla_dump.h"
#include "read/engine.h"

inline whyoom::Diagnosis Diagnose(const std::string& log, const whyoom::XlaDump& dump = {}) {
  static const whyoom::Engine engine(BuiltInRules());
  whyoom::Readings readings = ReadArtifact(engine, {"job.log", ""}, *whyoom::OpenMemory(log));
  REQUIRE(readings.table);
  std::vector<whyoom::Problem> problems;
  readings.table->AddDump(dump);
  std::vector<whyoom::Diagnosis> findings = readings.table->Finish(&problems);
  INFO(log);
  REQUIRE(findings.size() == 1);
  return findings[0];
}
