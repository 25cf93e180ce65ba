// Joins resources/page.html, the report's JSON and the texts that the page shares with other formats.
#include <re2/re2.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "report/formatting.h"
#include "report/printers.h"
#include "report/record/describe.h"
#include "report/report_document.h"
#include "text/embedded.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostDetails = 2 << 20;  // total size of the diagnoses in full
constexpr std::size_t kMostBrief = 8 << 20;    // total size of the diagnoses with a reason and a remedy
constexpr std::size_t kMostFailures = 2000;

// JSON that cannot end the element that contains it.
std::string InScript(const Json& json) {
  std::string text = LineOf(json);
  re2::RE2::GlobalReplace(&text, "<", R"(\\u003c)");
  return text;
}

// The words as texts, and each piece of code in a list of its own.
Json SpansJson(const doc::Spans& spans) {
  Json json = Json::array();
  for (const doc::Span& span : spans)
    json.push_back(span.kind == doc::Span::Kind::kCode ? Json::array({span.text}) : Json(span.text));
  return json;
}

Json TextJson(std::string_view text) { return SpansJson(doc::Sentence(text)); }

Json ListJson(const auto& elements, std::size_t most, auto make) {
  Json json = Json::array();
  for (const auto& element : std::span(elements).first(std::min(elements.size(), most))) json.push_back(make(element));
  return json;
}

// `most` limits reasons and remedies.
Json TextsOf(const Failure& failure, std::size_t most, const std::string& folder) {
  constexpr std::size_t kAll = std::string::npos;
  const doc::Blocks blocks = FirstBlocks(failure, {.remedies = 0, .is_headline = true});
  const auto& verdict = std::get<doc::Verdict>(blocks.front().content);
  const FailureRow row = RowOf(failure);
  const auto reason = [](const Reason& why) { return SpansJson(ReasonSpans(why)); };
  Json texts = {{"anchor", Printable(failure.id)},
                {"verdict", SpansJson(verdict.title)},
                {"need", SpansJson(doc::Joined(verdict.notes, ". "))},
                {"facts", SpansJson(doc::Joined(verdict.facts, " · "))},
                {"name", row.name},
                {"excess", row.excess},
                {"excess_bytes", row.excess_bytes},
                {"place", BelowFolder(row.place, folder)}};
  texts["why"] = ListJson(failure.why, most, reason);
  texts["hint"] = TextJson(MistakeHint(failure));
  if (const std::string retry = RetryText(failure.retry); !retry.empty()) texts["retry"] = TextJson(retry);
  texts["remedies"] = ListJson(failure.remedies, most, [&](const RankedRemedy& ranked) -> Json {
    return {{"effect", TextJson(EffectText(ranked, failure))},
            {"why", ListJson(ranked.why, kAll, reason)},
            {"steps", ListJson(ranked.how, kAll, TextJson)}};
  });
  return texts;
}

// Replaces the diagnoses of the report's JSON by the most frequent ones, in full as far as there is room, and then in
// brief, at last without texts of reasons and remedies. Returns the texts of the page.
Json MakeTexts(const Report& report, const ReportDocument& document, Json* json) {
  Json whole = std::exchange((*json)["diagnoses"], Json::array());
  Json& diagnoses = (*json)["diagnoses"];
  Json texts = {{"title", document.title}, {"diagnoses", Json::array()}};
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < std::min(document.failures.size(), kMostFailures); ++i) {
    const Failure& failure = *document.failures[i];
    Json& diagnosis = whole[static_cast<std::size_t>(&failure - report.failures.data())];
    const bool is_whole = bytes < kMostDetails;
    diagnoses.push_back(is_whole ? std::move(diagnosis) : BriefRecord(std::move(diagnosis)));
    const std::size_t most = is_whole ? std::string::npos : bytes < kMostBrief ? 1 : 0;
    texts["diagnoses"].push_back(TextsOf(failure, most, document.folder));
    bytes += LineOf(diagnoses.back()).size();
  }
  if (!document.head.empty()) {
    const auto& verdict = std::get<doc::Verdict>(document.head.front().content);
    for (const doc::Spans& note : verdict.notes) texts["notes"].push_back(SpansJson(note));
    texts["notes"].push_back(SpansJson(doc::Joined(verdict.facts, " · ")));
  }
  if (bytes >= kMostDetails || document.failures.size() > kMostFailures)
    texts["notes"].push_back(Json::array({"Less frequent failures are in brief or left out; --format json has all."}));
  for (const CompiledProgram& program : report.programs) texts["programs"].push_back(TextJson(ProgramVerdict(program)));
  return texts;
}

}  // namespace

std::string PrintHtml(const Report& report) {
  const std::string_view page = EmbeddedPage().front().text;
  const ReportDocument document = MakeDocument(report);
  Json json = ToRecord(report);
  const Json texts = MakeTexts(report, document, &json);
  const std::pair<std::string_view, std::string> parts[] = {
      {"{title}", EscapeMarkup(Printable(document.title) + " · whyoom")},
      {"{text}", EscapeMarkup(PrintText(report, {.detail = document.is_batch ? Detail::kUsual : Detail::kAll}))},
      {"{footer}", EscapeMarkup(doc::PlainText(doc::Joined(document.footer, " · ")))},
      {"{report}", InScript(json)},
      {"{texts}", InScript(texts)}};
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
