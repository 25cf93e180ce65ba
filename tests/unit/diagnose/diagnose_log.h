// The one finding of a log that holds one, by the built-in rules.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/artifact_findings.h"
#include "diagnose/diagnoser.h"
#include "diagnose/xla_dump.h"

inline whyoom::Finding Diagnose(const std::string& log, const whyoom::XlaDump& dump = {}) {
  static const whyoom::Engine engine(BuiltInRules());
  const std::unique_ptr<whyoom::ByteSource> source = whyoom::OpenMemory(log);
  whyoom::ArtifactFindings found(BuiltInRules(), {"job.log", ""});
  ReadArtifact(engine, *source, [&](std::vector<whyoom::Draft> drafts, const std::string& framework) {
    found.Add(std::move(drafts), framework);
  });
  std::vector<whyoom::Problem> problems;
  std::vector<whyoom::Finding> findings = found.Take().Finish(dump, &problems);
  INFO(log);
  REQUIRE(findings.size() == 1);
  return findings[0];
}
