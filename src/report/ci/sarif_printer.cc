#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "report/failure_view.h"
#include "report/formatting.h"
#include "report/printers.h"
#include "report/record/fields.h"
#include "report/summary.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr const char* kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr const char* kSourceRoot = "%SRCROOT%";

// GitHub's code scanning shows 5000 results per run, and accepts files of up to 10 MB after gzip compression.
// kMostResultBytes stays below that even for incompressible text; indentation compresses to almost nothing.
constexpr std::size_t kMostResults = 5000;
constexpr std::size_t kMostRelated = 10;
constexpr std::size_t kMostResultBytes = 8'000'000;
constexpr std::size_t kMostNotifications = 100;

Json Message(const std::string& text) { return {{"text", SarifText(text)}}; }

// Names a file below the source folder relative to it, as code scanning requires, and others by their path.
// `is_source`: a relative path is relative to the source folder.
Json Location(const std::string& path, bool is_source, std::uint64_t line, std::uint64_t last_line,
              const std::string& source_root) {
  constexpr std::uint64_t kMaxLines = std::numeric_limits<std::int32_t>::max();  // the most that consumers count
  const std::optional<std::string> relative = RelativeTo(source_root, path);
  Json file = {{"uri", PathUri(relative.value_or(path))}};
  if (relative && (is_source || path.starts_with('/'))) file["uriBaseId"] = kSourceRoot;
  Json region = {{"startLine", std::clamp<std::uint64_t>(line, 1, kMaxLines)}};
  if (last_line > line) region["endLine"] = std::min(last_line, kMaxLines);
  return {{"physicalLocation", {{"artifactLocation", std::move(file)}, {"region", std::move(region)}}}};
}

// Line numbers in archive members and compressed files refer to the uncompressed text. Standard input and the output of
// a job are in no file.
Json LogLocation(const Where& where, const std::string& source_root) {
  const std::string& path = where.artifact.path;
  return Location(JobIn(path).empty() ? path : "-", false, where.line, where.last_line, source_root);
}

Json SourceLocation(const SourcePlace& source, const std::string& source_root) {
  const auto line = static_cast<std::uint64_t>(source.line);
  return Location(source.path, true, line, line, source_root);
}

Json Related(Json location, const std::string& text) {
  location["message"] = Message(text);
  return location;
}

constexpr std::size_t kLongestDescription = 1000;

// Depends only on the rule data, so failures of the same rule give the same description.
Json RuleOf(const Failure& failure) {
  const FailureRule& rule = *failure.rule;
  const bool has_scenario = failure.scenario != nullptr;
  std::string what = has_scenario ? failure.scenario->about : "";
  if (what.empty()) what = rule.about.empty() ? rule.title : rule.about.front();
  const std::string title = rule.title + (has_scenario ? " – " + failure.scenario->title : "");
  Json json = {{"id", RuleId(failure)},
               {"shortDescription", Message(Printable(CutBytes(title, kLongestDescription)))},
               {"fullDescription", Message(Printable(CutBytes(what, kLongestDescription)))}};
  if (!rule.links.empty() && rule.links.front().url.starts_with("http")) json["helpUri"] = rule.links.front().url;
  json["help"] = Message(Printable(what) + "\n\n" + ExplainCommand(failure));
  json["properties"] = {{"tags", {"xla"}}, {"problem.severity", "error"}};
  return json;
}

// Code scanning requires the primary location of an alert to be in the sources. The log is the primary location only if
// no source line is known.
void SetLocations(const Failure& failure, const std::string& source_root, Json* result) {
  const Json log = LogLocation(failure.where, source_root);
  const std::optional<SourcePlace> source = UserSource(failure);
  const bool in_sources = source && RelativeTo(source_root, source->path);
  Json related = Json::array();
  if (in_sources) {
    (*result)["locations"] = Json::array({SourceLocation(*source, source_root)});
    related.push_back(Related(log, "Reported at " + PlaceText(failure.where)));
  } else {
    (*result)["locations"] = Json::array({log});
    if (source) related.push_back(Related(SourceLocation(*source, source_root), "The source line"));
  }
  for (const Where& where : failure.Also()) {
    if (related.size() < kMostRelated)
      related.push_back(Related(LogLocation(where, source_root), "Reported at " + PlaceText(where)));
  }
  if (!related.empty()) (*result)["relatedLocations"] = std::move(related);
}

Json ResultOf(const Failure& failure, const std::string& source_root) {
  constexpr const char* kAnswers[] = {"never", "maybe", "unknown"};
  constexpr std::uint64_t kMaxOccurrences = std::numeric_limits<std::int32_t>::max();
  Json result = {{"ruleId", RuleId(failure)},
                 {"level", failure.recovered ? "warning" : "error"},
                 {"message", Message(PrintShort(failure))}};
  SetLocations(failure, source_root, &result);
  result["properties"] = {{"retry", kAnswers[static_cast<std::size_t>(failure.retry.answer)]}};
  result["partialFingerprints"] = {{"whyoom/v1", Printable(failure.id)}};
  result["occurrenceCount"] = std::min(failure.tally.occurrences(), kMaxOccurrences);
  return result;
}

// Unknown errors are notifications, not results, because whyoom knows only their lines.
Json RemarkNotification(const Remark& remark, bool strict, const std::string& source_root) {
  Json notification = {{"level", remark.is_unknown && strict ? "error" : "warning"},
                       {"message", Message(remark.Sentence())}};
  if (remark.is_unknown)
    notification["message"] = Message(fmt::format("{}: {} – {}", kUnknownErrors, remark.Sentence(), kRuleHint));
  if (const Problem* problem = remark.problem; problem != nullptr && !problem->of_report && !problem->path.empty()) {
    Json log = LogLocation({{problem->path, problem->member}, problem->line, problem->line, 0}, source_root);
    if (problem->line == 0) log["physicalLocation"].erase("region");
    notification["locations"] = Json::array({std::move(log)});
  }
  if (remark.is_unknown) notification["descriptor"] = {{"id", Problem::kUnknownError}};
  return notification;
}

Json NotificationsOf(const Report& report, std::size_t results, const std::string& source_root) {
  Json notifications = Json::array();
  for (const Remark& remark : RemarksOf(report, kMostNotifications))
    notifications.push_back(RemarkNotification(remark, report.strict, source_root));
  if (const std::string hidden = HiddenText(report); !hidden.empty())
    notifications.push_back({{"level", "note"}, {"message", Message(hidden)}});
  if (const std::size_t more = report.failures.size() - results; more > 0)
    notifications.push_back(
        {{"level", "warning"},
         {"message", Message(fmt::format("{} more failures are left out, because code scanning accepts no more; "
                                         "--format json lists them",
                                         more))}});
  return notifications;
}

}  // namespace

std::string PrintSarif(const Report& report, const std::string& source_root) {
  Json results = Json::array();       // as many as code scanning accepts
  std::map<std::string, Json> rules;  // the codes and scenarios that occur
  std::size_t bytes = 0;
  for (const Failure& failure : report.failures) {
    Json result = ResultOf(failure, source_root);
    bytes += LineOf(result).size();
    if (results.size() == kMostResults || bytes > kMostResultBytes) break;
    results.push_back(std::move(result));
    rules.try_emplace(RuleId(failure), RuleOf(failure));
  }
  Json driver = {{"name", "whyoom"}, {"version", report.version}, {"rules", Json::array()}};
  for (auto& [id, rule] : rules) driver["rules"].push_back(std::move(rule));
  Json invocation = {{"executionSuccessful", !NothingRead(report)}};
  Json notifications = NotificationsOf(report, results.size(), source_root);
  if (!notifications.empty()) invocation["toolExecutionNotifications"] = std::move(notifications);
  Json run = {{"tool", {{"driver", std::move(driver)}}}};
  run["invocations"] = Json::array({std::move(invocation)});
  // Its location differs between machines, so the reader of the file must provide it.
  run["originalUriBaseIds"] = {{kSourceRoot, {{"description", Message("The folder of the sources")}}}};
  run["results"] = std::move(results);
  Json log = {{"$schema", kSchema}, {"version", "2.1.0"}};
  log["runs"] = Json::array({std::move(run)});
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace whyoom
