// Returns the report of a log by the built-in rules.
#pragma once

#include <string_view>

#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "fuzz/fuzz.h"
#include "read/engine.h"

namespace whyoom {

// Reads like from a pipe that returns at most `chunk` bytes at a time.
inline Report ReportOf(std::string_view log, std::size_t chunk) {
  static const Engine engine(BuiltInRules());
  return MakeReport("", ReadArtifact(engine, {"log", ""}, *OpenMemory(log, chunk)));
}

}  // namespace whyoom
