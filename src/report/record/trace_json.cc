#include "report/record/trace_json.h"

#include "report/record/describe_trace.h"
#include "report/report.h"

namespace whyoom {

std::string PrintTraceJson(const LogTrace& trace, const std::string& version, const RuleSet& rules) {
  RecordWriter record;
  DescribeTrace(record, trace, ToolRecord{version, rules.fingerprint(), RuleFilesTold(rules.extra_files())});
  return record.Take().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace whyoom
