// What was read, and what could not be.
#pragma once

#include <string>

namespace whyoom {

// One named thing to analyze: a file, standard input, an archive member.
struct Artifact {
  std::string path;    // as the user gave it or the walk found it; "-" is standard input
  std::string member;  // the name inside an archive, else empty
};

// A note on input that could not be read whole. Never ends a run.
struct Problem {
  std::string path;
  std::string member;
  std::string what;        // one sentence without a full stop, for people
  bool of_report = false;  // not of an input: a limit of the report, or what follows from a finding
};

}  // namespace whyoom
