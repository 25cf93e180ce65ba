// Programs from hand-written modules and memory reports of their compiles.
#pragma once

#include <memory>
#include <string>

#include "built_in_rules.h"
#include "program/program.h"
#include "program/remedies.h"

// `module`: text of a scheduled module after its header; `head`: additions to the header; others: texts of dump files,
// see program/memory.h.
inline whyoom::Program MakeProgram(const std::string& module, const std::string& assignment = "BufferAssignment:\n",
                                   const std::string& ranges = "", const std::string& head = "") {
  const std::unique_ptr<whyoom::ByteSource> times = whyoom::OpenMemory(ranges);
  return {whyoom::ReadHlo(*whyoom::OpenMemory("HloModule m, is_scheduled=true" + head + "\n\n" + module)),
          whyoom::HloModule(), whyoom::ReadMemory(*whyoom::OpenMemory(assignment), times.get())};
}

// A program with its analysis, which must outlive the changes that are tried.
struct MadeProgram {
  MadeProgram(const std::string& module, const std::string& assignment, const std::string& ranges,
              const std::string& head = "", std::int64_t limit_bytes = 0)
      : program(MakeProgram(module, assignment, ranges, head)),
        meaning(program, BuiltInRules().role_words()),
        simulator(program, meaning, limit_bytes) {}

  // Bytes that the modified program needs; -1 if the change is not possible.
  std::int64_t Left(const std::optional<whyoom::ModifiedProgram>& modified) const {
    return modified ? simulator.EstimateOf(*modified).left_bytes : -1;
  }

  whyoom::Program program;
  whyoom::Meaning meaning;
  whyoom::Simulator simulator;
};
