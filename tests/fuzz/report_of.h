// The report of a log, as the built-in rules make it.
#pragma once

#include <string_view>

#include "diagnose/readings.h"
#include "fuzz/fuzz.h"
#include "read/engine.h"
#include "report/report.h"

namespace whyoom {

// As from a pipe that gives at most `chunk` bytes at a time.
inline Report ReportOf(std::string_view log, std::size_t chunk) {
  static const Engine engine(BuiltInRules());
  return MakeReport("", ReadArtifact(engine, {"log", ""}, *OpenMemory(log, chunk)));
}

}  // namespace whyoom
