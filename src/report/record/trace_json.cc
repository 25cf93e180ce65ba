#include "report/record/trace_json.h"

#include "report/record/describe_trace.h"

namespace whyoom {

std::string PrintTraceJson(const LogTrace& trace, const std::string& version, const std::string& rules_fingerprint) {
  RecordWriter record;
  DescribeTrace(record, trace, ToolRecord{version, rules_fingerprint});
  return record.Take().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace whyoom
