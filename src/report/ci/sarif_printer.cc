#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "report/encodings.h"
#include "report/failure_view.h"
#include "report/layout.h"
#include "report/printers.h"
#include "report/record/fields.h"
#include "report/source_place.h"
#include "report/summary.h"
#include "report/text/text_printer.h"
#include "report/unknown_errors.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr const char* kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr const char* kSourceRoot = "%SRCROOT%";

// GitHub's code scanning shows 5000 results per run, and accepts files of up to 10 MB
// after gzip compression. kMostResultBytes stays below that even for incompressible text; indentation compresses to
// almost nothing.
constexpr std::size_t kMostResults = 5000;
constexpr std::size_t kMostRelated = 10;
constexpr std::size_t kMostResultBytes = 8'000'000;
constexpr std::size_t kMostNotifications = 100;

Json Message(const std::string& text) { return {{"text", SarifText(text)}}; }

// Names a file below the source folder relative to it, as code scanning requires, and others by their path.
// `is_source`: a relative path is relative to the source folder.
Json File(const std::string& path, const std::string& source_root, bool is_source) {
  const std::optional<std::string> relative = RelativeTo(source_root, path);
  Json location = {{"uri", PathUri(relative.value_or(path))}};
  if (relative && (is_source || path.starts_with('/'))) location["uriBaseId"] = kSourceRoot;
  return location;
}

Json LogFile(const std::string& path, const std::string& source_root) {
  if (path == "-") return {{"uri", "-"}, {"description", Message("standard input")}};
  const std::string job = JobIn(path);  // its output is in no file
  return job.empty() ? File(path, source_root, false)
                     : Json{{"uri", "-"}, {"description", Message("output of: " + job)}};
}

Json Region(std::uint64_t line, std::uint64_t last_line) {
  constexpr std::uint64_t kMaxLines = std::numeric_limits<std::int32_t>::max();  // the most that consumers count
  Json region = {{"startLine", std::clamp<std::uint64_t>(line, 1, kMaxLines)}};
  if (last_line > line) region["endLine"] = std::min(last_line, kMaxLines);
  return region;
}

// Line numbers in archive members and compressed files refer to the uncompressed text.
Json LogLocation(const Where& where, const std::string& source_root) {
  Json location = {{"physicalLocation",
                    {{"artifactLocation", LogFile(where.artifact.path, source_root)},
                     {"region", Region(where.line, where.last_line)}}}};
  if (!where.artifact.member.empty()) {
    location["logicalLocations"] = Json::array();
    location["logicalLocations"].push_back({{"name", Printable(where.artifact.member)},
                                            {"fullyQualifiedName", ArtifactText(where.artifact)},
                                            {"kind", "member"}});
  }
  return location;
}

Json SourceLocation(const SourcePlace& source, const std::string& source_root) {
  const auto line = static_cast<std::uint64_t>(source.line);
  return {{"physicalLocation",
           {{"artifactLocation", File(source.path, source_root, true)}, {"region", Region(line, line)}}}};
}

Json Related(Json location, const std::string& text) {
  location["message"] = Message(text);
  return location;
}

constexpr std::size_t kLongestUri = 255;  // GitHub's code scanning cuts longer names
constexpr std::size_t kLongestDescription = 1000;

// What the failure means, and where to read more.
std::string HelpText(const Failure& failure) {
  std::string text;
  const auto add = [&](const std::string& paragraph) {
    if (!paragraph.empty()) text += (text.empty() ? "" : "\n\n") + SarifText(Printable(paragraph));
  };
  for (const std::string& paragraph : failure.rule->about) add(paragraph);
  if (failure.scenario != nullptr) add(failure.scenario->about);
  for (const Link& link : failure.rule->links) add(link.title + ": " + link.url);
  add(ExplainCommand(failure));
  return text;
}

// Depends only on the rule data, so failures of the same rule give the same description.
Json RuleOf(const Failure& failure) {
  const FailureRule& rule = *failure.rule;
  const bool has_scenario = failure.scenario != nullptr;
  std::string what = has_scenario ? failure.scenario->about : "";
  if (what.empty()) what = rule.about.empty() ? rule.title : rule.about.front();
  const std::string title = rule.title + (has_scenario ? " – " + failure.scenario->title : "");
  Json json = {{"id", RuleId(failure)},
               {"name", CutBytes(Printable(rule.title), kLongestUri)},
               {"shortDescription", Message(Printable(CutBytes(title, kLongestDescription)))},
               {"fullDescription", Message(Printable(CutBytes(what, kLongestDescription)))}};
  if (!rule.links.empty() && rule.links.front().url.starts_with("http")) json["helpUri"] = rule.links.front().url;
  json["help"] = {{"text", HelpText(failure)}};
  json["defaultConfiguration"] = {{"level", "error"}};
  const char* phase = rule.phase == "compile" ? "compile-time" : "run-time";
  json["properties"] = {{"tags", {"xla", phase}}, {"problem.severity", "error"}};
  return json;
}

class SarifRun {
 public:
  SarifRun(const Report& report, const std::string& source_root) : report_(report), source_root_(source_root) {}

  Json Make();

 private:
  Json Result(const Failure& failure);
  void SetLocations(const Failure& failure, Json* result);
  void AddResults();
  void Notify(const char* level, const std::string& text, Json locations = Json::array());
  void AddRemarks();
  void AddLeftOut();

  const Report& report_;
  const std::string& source_root_;
  std::map<std::string, Json> rules_;  // by id: the codes and scenarios that occur
  Json results_ = Json::array();
  Json notifications_ = Json::array();
  std::uint64_t places_left_out_ = 0;
};

// Code scanning requires the primary location of an alert to be in the sources. The log is the primary location only if
// no source line is known.
void SarifRun::SetLocations(const Failure& failure, Json* result) {
  const Json log = LogLocation(failure.where, source_root_);
  const std::optional<SourcePlace> source = UserSource(failure);
  const bool in_sources = source && RelativeTo(source_root_, source->path);
  Json related = Json::array();
  if (in_sources) {
    (*result)["locations"] = Json::array({SourceLocation(*source, source_root_)});
    related.push_back(Related(log, "Reported at " + PlaceText(failure.where)));
  } else {
    (*result)["locations"] = Json::array({log});
    if (source) related.push_back(Related(SourceLocation(*source, source_root_), "The source line"));
  }
  for (const Where& where : failure.Also()) {
    if (related.size() < kMostRelated) {
      related.push_back(Related(LogLocation(where, source_root_), "Reported at " + PlaceText(where)));
    } else {
      ++places_left_out_;
    }
  }
  if (!related.empty()) (*result)["relatedLocations"] = std::move(related);
}

Json SarifRun::Result(const Failure& failure) {
  if (Json& rule = rules_[RuleId(failure)]; rule.is_null()) rule = RuleOf(failure);
  Json result = {{"ruleId", RuleId(failure)},
                 {"level", failure.recovered ? "warning" : "error"},
                 {"message", Message(PrintShort(failure))}};
  SetLocations(failure, &result);
  constexpr const char* kAnswers[] = {"never", "maybe", "unknown"};
  result["properties"] = {{"retry", kAnswers[static_cast<std::size_t>(failure.retry.answer)]}};
  result["partialFingerprints"] = {{"whyoom/v1", Printable(failure.id)}};
  constexpr std::uint64_t kMaxOccurrences = std::numeric_limits<std::int32_t>::max();
  result["occurrenceCount"] = std::min(failure.tally.occurrences(), kMaxOccurrences);
  return result;
}

void SarifRun::AddResults() {
  const std::size_t count = std::min(report_.failures.size(), kMostResults);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Json result = Result(report_.failures[i]);
    bytes += result.dump(-1, ' ', false, Json::error_handler_t::replace).size();
    if (bytes > kMostResultBytes) break;
    results_.push_back(std::move(result));
  }
}

void SarifRun::Notify(const char* level, const std::string& text, Json locations) {
  Json notification = {{"level", level}, {"message", Message(text)}};
  if (!locations.empty()) notification["locations"] = std::move(locations);
  notifications_.push_back(std::move(notification));
}

// Unknown errors are notifications, not results, because whyoom knows only their lines.
void SarifRun::AddRemarks() {
  for (const Remark& remark : RemarksOf(report_, kMostNotifications)) {
    Json locations = Json::array();
    if (const Problem* problem = remark.problem; problem != nullptr && !problem->of_report && !problem->path.empty()) {
      locations.push_back(
          LogLocation({{problem->path, problem->member}, problem->line, problem->line, 0}, source_root_));
      if (problem->line == 0) locations[0]["physicalLocation"].erase("region");
    }
    const bool is_unknown = remark.hint != nullptr;
    Notify(remark.level,
           is_unknown ? fmt::format("{}: {} – {}", remark.title, remark.Sentence(), remark.hint) : remark.Sentence(),
           std::move(locations));
    if (is_unknown) notifications_.back()["descriptor"] = {{"id", Problem::kUnknownError}};
  }
}

void SarifRun::AddLeftOut() {
  if (const std::string hidden_failures = HiddenText(report_); !hidden_failures.empty())
    Notify("note", hidden_failures);
  if (const std::size_t more = report_.failures.size() - results_.size(); more > 0)
    Notify("warning",
           fmt::format("{} more failures are left out, because code scanning accepts no more; --format json lists them",
                       more));
  if (places_left_out_ > 0)
    Notify("note", fmt::format("{} more places where these failures were reported are left out", places_left_out_));
}

Json SarifRun::Make() {
  AddResults();
  AddRemarks();
  AddLeftOut();
  Json driver = {{"name", "whyoom"}, {"version", report_.version}, {"rules", Json::array()}};
  for (auto& [id, rule] : rules_) driver["rules"].push_back(std::move(rule));
  driver["properties"] = {{"rulesFingerprint", report_.rules_fingerprint}};
  if (!report_.rule_files.empty()) driver["properties"]["ruleFiles"] = ShownRuleFiles(report_.rule_files);
  const bool nothing_read = NothingRead(report_);
  Json invocation = {{"executionSuccessful", !nothing_read}};
  if (!notifications_.empty()) invocation["toolExecutionNotifications"] = std::move(notifications_);
  Json run = {{"tool", {{"driver", std::move(driver)}}}};
  run["invocations"] = Json::array({std::move(invocation)});
  // Its location differs between machines, so the reader of the file must provide it.
  run["originalUriBaseIds"] = {{kSourceRoot, {{"description", Message("The folder of the sources")}}}};
  run["results"] = std::move(results_);
  return run;
}

}  // namespace

std::string PrintSarif(const Report& report, const std::string& source_root) {
  Json log = {{"$schema", kSchema}, {"version", "2.1.0"}};
  log["runs"] = Json::array({SarifRun(report, source_root).Make()});
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace whyoom
