// A baseline: a file that lists known failures by id and is kept in the source repository. An id does not depend on
// line, time or host, so a known failure keeps its id.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "facts/failure.h"
#include "report/record/fields.h"

namespace whyoom {

// Fields for people who read the file; whyoom compares only the id.
struct KnownFailure {
  std::string code;
  std::string scenario;  // empty if there is none or the log does not decide
  std::string title;
  std::string program;  // empty if unknown
};

// The key is the id.
using Baseline = std::map<std::string, KnownFailure>;

void AddKnown(const Failure& failure, Baseline* baseline);

// Returns the content of the file: JSON with one line per failure, sorted by id, so that diff and merge tools work.
std::string PrintBaseline(const Baseline& baseline);

// Parses the output of PrintBaseline. Throws Error, with a message that starts with `name`, for any other text.
Baseline ParseBaseline(std::string_view text, const std::string& name);

inline constexpr const char* kBaselineSchema = "whyoom.baseline/1";

struct KnownRecord {
  std::string id;
  KnownFailure known;
};

void Describe(auto& v, RecordOf<KnownRecord> auto& record) {
  v.Record("known_failure");
  v.Need("id", record.id, {.form = &kId});
  v.Need("code", record.known.code);
  v.Maybe("scenario", record.known.scenario);
  v.Need("title", record.known.title);
  v.Maybe("program", record.known.program);
}

struct BaselineRecord {
  std::vector<KnownRecord> failures;
};

void Describe(auto& v, RecordOf<BaselineRecord> auto& baseline) {
  v.Record("baseline");
  v.Constant("schema", kBaselineSchema);
  v.Need("failures", baseline.failures);
}

}  // namespace whyoom
