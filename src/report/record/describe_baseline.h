// What the file of --write-baseline holds, as describe.h is for reports.
#pragma once

#include <string>
#include <vector>

#include "report/record/baseline.h"
#include "report/record/fields.h"

namespace whyoom {

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
