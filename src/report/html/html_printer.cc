// Joins resources/page.html, the report's JSON and the texts that the page shares with other formats.
#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "report/encodings.h"
#include "report/printers.h"
#include "report/record/describe.h"
#include "report/record/json_printer.h"
#include "report/report_document.h"
#include "report/text/text_printer.h"
#include "text/embedded.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostDetails = 2 << 20;  // total size of the diagnoses in full
constexpr std::size_t kMostFailures = 2000;
constexpr std::size_t kMostBrief = 8 << 20;  // total size of the diagnoses with a reason and a remedy

// JSON that cannot end the element that contains it.
std::string InScript(const Json& json) {
  std::string text = LineOf(json);
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at))
    text.replace(at, 1, "\\u003c");
  return text;
}

// The words as texts, and each piece of code in a list of its own.
Json SpansJson(const doc::Spans& spans) {
  Json json = Json::array();
  for (const doc::Span& span : spans) {
    if (span.kind == doc::Span::Kind::kCode) {
      json.push_back(Json::array({span.text}));
    } else {
      json.push_back(span.text);
    }
  }
  return json;
}

Json SentencesJson(const auto& texts) {
  Json json = Json::array();
  for (const auto& text : texts) {
    if constexpr (std::is_same_v<std::decay_t<decltype(text)>, Reason>) {
      json.push_back(SpansJson(ReasonSpans(text)));
    } else {
      json.push_back(SpansJson(doc::Sentence(text)));
    }
  }
  return json;
}

// `number` makes the anchor unique; ids that were read from files may be anything. `most` limits reasons and remedies.
Json TextsOf(const Failure& failure, std::size_t number, std::size_t most, const std::string& folder) {
  const doc::Blocks blocks = FirstBlocks(failure, {.remedies = 0, .is_headline = true});
  const auto& verdict = std::get<doc::Verdict>(blocks.front().content);
  const FailureRow row = RowOf(failure);
  const bool is_plain = !failure.id.empty() && failure.id.size() <= 64 &&
                        failure.id.find_first_not_of("0123456789abcdef") == std::string::npos;
  Json texts = {{"anchor", is_plain ? failure.id : std::to_string(number)},
                {"verdict", SpansJson(verdict.title)},
                {"need", SpansJson(doc::Joined(verdict.notes, ". "))},
                {"facts", SpansJson(doc::Joined(verdict.facts, " · "))},
                {"name", row.name},
                {"excess", row.excess},
                {"excess_bytes", row.excess_bytes},
                {"place", BelowFolder(row.place, folder)}};
  texts["why"] = SentencesJson(std::span(failure.why).first(std::min(failure.why.size(), most)));
  if (const std::string retry = RetryText(failure.retry); !retry.empty())
    texts["retry"] = SpansJson(doc::Sentence(retry));
  texts["remedies"] = Json::array();
  for (const RankedRemedy& ranked : std::span(failure.remedies).first(std::min(failure.remedies.size(), most))) {
    texts["remedies"].push_back({{"effect", SpansJson(doc::Sentence(EffectText(ranked, failure)))},
                                 {"why", SentencesJson(ranked.why)},
                                 {"steps", SentencesJson(ranked.how)}});
  }
  return texts;
}

struct PageData {
  Json report;
  Json texts;
};

// The most frequent failures in full, as far as there is room, and the others in brief.
PageData DataOf(const Report& report, const ReportDocument& document) {
  Report rest;
  rest.version = report.version;
  rest.rules_fingerprint = report.rules_fingerprint;
  rest.rule_files = report.rule_files;
  rest.programs = report.programs;
  rest.programs_left_out = report.programs_left_out;
  rest.problems = report.problems;
  rest.hidden = report.hidden;
  rest.exit_status = report.exit_status;
  PageData data{ToRecord(rest), {{"title", document.title}}};
  data.report["summary"].update(ToRecord(BoundedSummary(report)));
  Json& diagnoses = data.report["diagnoses"];
  Json& texts = data.texts["diagnoses"] = Json::array();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < std::min(document.failures.size(), kMostFailures); ++i) {
    const Failure& failure = *document.failures[i];
    const bool whole = bytes < kMostDetails;
    const std::size_t most = whole ? std::string::npos : bytes < kMostBrief ? 1 : 0;
    diagnoses.push_back(whole ? ToRecord(failure) : BriefRecord(failure));
    texts.push_back(TextsOf(failure, i, most, document.folder));
    if (bytes < kMostBrief) bytes += LineOf(diagnoses.back()).size();
  }
  if (const auto* verdict =
          document.head.empty() ? nullptr : std::get_if<doc::Verdict>(&document.head.front().content)) {
    for (const doc::Spans& note : verdict->notes) data.texts["notes"].push_back(SpansJson(note));
    data.texts["notes"].push_back(SpansJson(doc::Joined(verdict->facts, " · ")));
  }
  if (bytes >= kMostDetails)
    data.texts["notes"].push_back(Json::array({"Less frequent failures are shown in brief; --format json has all."}));
  if (document.failures.size() > kMostFailures)
    data.texts["notes"].push_back(Json::array({"Only the most frequent failures are listed; --format json has all."}));
  for (const CompiledProgram& program : report.programs)
    data.texts["programs"].push_back(SpansJson(doc::Sentence(ViewOf(program).verdict)));
  return data;
}

}  // namespace

std::string PrintHtml(const Report& report) {
  const std::string_view page = EmbeddedPage().front().text;
  const ReportDocument document = MakeDocument(report);
  const PageData data = DataOf(report, document);
  const std::pair<std::string_view, std::string> parts[] = {
      {"{title}", EscapeMarkup(Printable(document.title) + " · whyoom")},
      {"{text}", EscapeMarkup(PrintText(report, {.detail = document.is_batch ? Detail::kUsual : Detail::kAll}))},
      {"{footer}", EscapeMarkup(doc::PlainText(doc::Joined(document.footer, " · ")))},
      {"{report}", InScript(data.report)},
      {"{texts}", InScript(data.texts)}};
  std::string made;
  std::size_t from = 0;
  for (const auto& [mark, text] : parts) {  // in the order of the page
    const std::size_t at = page.find(mark, from);
    made.append(page.substr(from, at - from)).append(text);
    from = at + mark.size();
  }
  return made.append(page.substr(from));
}

}  // namespace whyoom
