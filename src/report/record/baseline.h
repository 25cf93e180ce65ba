// A baseline: the failures that are known already, by id, in a file that is kept beside the sources. An id depends
// neither on the line, the time nor the host, so that a known failure stays known.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnosis.h"
#include "report/record/fields.h"

namespace whyoom {

// What is said of a known failure, for who reads the file; only its id is compared.
struct KnownFailure {
  std::string code;
  std::string scenario;  // empty: none, or open
  std::string title;
  std::string program;  // empty: not known
};

// By id.
using Baseline = std::map<std::string, KnownFailure>;

void AddKnown(const Diagnosis& finding, Baseline* baseline);

// The content of the file: JSON with a line a failure, by id, so that two of them compare and merge line by line.
std::string PrintBaseline(const Baseline& baseline);

// What PrintBaseline printed. Throws Error, which begins with `name`, where it is something else.
Baseline ParseBaseline(std::string_view text, const std::string& name);

inline constexpr const char* kBaselineSchema = "whyoom.baseline/1";

struct KnownRecord {
  std::string id;
  KnownFailure known;
};

void Describe(auto& v, RecordOf<KnownRecord> auto& record) {
  v.Record("known_failure");
  v.Need("id", record.id,
         {.about = "As in a report: the same failure has the same id, whatever the line, host or time. This alone is "
                   "compared.",
          .form = &kId});
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
  v.Need("failures", baseline.failures, {.about = "By id."});
}

}  // namespace whyoom
