#include "report/record/diff_json.h"

#include "report/record/describe_diff.h"

namespace whyoom {

std::string PrintDiffJson(const Diff& diff, const std::string& version, const RuleSet& rules) {
  RecordWriter record;
  DescribeDiff(record, diff, ToolRecord{version, rules.fingerprint(), RuleFilesTold(rules.extra_files())});
  return record.Take().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace whyoom
