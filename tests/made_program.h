// Programs of hand-written modules and of what their compile said of the memory.
#pragma once

#include <memory>
#include <string>

#include "built_in_rules.h"
#include "program/program.h"
#include "program/remedies.h"

// `module` is what stands behind the head of a scheduled module, `head` what the head says in addition; the others are
// the texts of a dump's files, see program/memory.h.
inline whyoom::Program MakeProgram(const std::string& module, const std::string& assignment = "BufferAssignment:\n",
                                   const std::string& ranges = "", const std::string& head = "") {
  const std::unique_ptr<whyoom::ByteSource> times = whyoom::OpenMemory(ranges);
  return {whyoom::ReadHlo(*whyoom::OpenMemory("HloModule m, is_scheduled=true" + head + "\n\n" + module)),
          whyoom::HloModule(), whyoom::ReadMemory(*whyoom::OpenMemory(assignment), times.get())};
}

// A program with what is made of it, as long as changes are tried on it.
struct MadeProgram {
  MadeProgram(const std::string& module, const std::string& assignment, const std::string& ranges,
              const std::string& head = "", std::int64_t limit_bytes = 0)
      : program(MakeProgram(module, assignment, ranges, head)),
        meaning(program, BuiltInRules().role_words()),
        simulator(program, meaning, limit_bytes) {}

  // What the changed program needs; -1 where there is no place for the change.
  std::int64_t Left(const std::optional<whyoom::ModifiedProgram>& modified) const {
    return modified ? simulator.EstimateOf(*modified).left_bytes : -1;
  }

  whyoom::Program program;
  whyoom::Meaning meaning;
  whyoom::Simulator simulator;
};
