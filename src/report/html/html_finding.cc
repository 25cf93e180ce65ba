#include "report/html/html_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/finding_text.h"
#include "report/html/html_charts.h"
#include "report/html/html_memory.h"
#include "report/layout.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kSentence = 2000;  // bytes
constexpr std::size_t kMessage = 8000;   // bytes
constexpr std::size_t kName = 240;       // columns
constexpr std::size_t kShape = 90;       // columns; of tuples mostly
constexpr std::size_t kPlaces = 50;
constexpr std::size_t kReasons = 20;

std::string Cut(const std::string& text) { return CutBytes(Printable(text), kSentence); }

std::string Name(const std::string& text) { return Shorten(Printable(text), kName); }

// Literals, because the writer keeps no copies.
const char* HeadingElement(int level) {
  constexpr const char* kElements[] = {"h1", "h2", "h3", "h4", "h5", "h6"};
  return kElements[std::clamp(level, 1, 6) - 1];
}

class FindingHtml {
 public:
  FindingHtml(const Finding& finding, const FindingLayout& layout, HtmlWriter* html)
      : finding_(finding), layout_(layout), html_(*html), need_(NeedOf(finding)) {}

  void Add() {
    AddVerdict();
    AddNumbers();
    if (need_) html_.Element(HeadingElement(layout_.level + 1), "What fills the memory");
    DrawMemory(finding_, layout_.allocations, &html_);
    if (finding_.prospects)
      AddMemory(*finding_.prospects, NumberFact(finding_, "limit_bytes"), layout_.level + 1, &html_);
    AddWhy();
    AddRemedies();
    AddAllocations();
    AddRuledOut();
    AddOrigin();
  }

 private:
  void AddVerdict();
  void AddNumbers();
  void AddWhy();
  void AddReason(const Reason& reason);
  void AddRemedies();
  void AddRemedy(const RankedRemedy& ranked);
  void AddOtherRemedies(std::size_t from);
  void AddChips(const RankedRemedy& ranked);
  void AddSteps(const RankedRemedy& ranked);
  void AddBackground(const RankedRemedy& ranked);
  void AddAllocations();
  void AddAllocation(const Allocation& row, const BarScale& scale);
  void AddRuledOut();
  void AddOrigin();

  const Finding& finding_;
  const FindingLayout& layout_;
  HtmlWriter& html_;
  std::optional<Need> need_;
};

void AddLinks(const std::vector<Link>& links, HtmlWriter* html) {
  if (links.empty()) return;
  html->Open("p", {{"class", "links"}});
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i > 0) html->Text(" · ");
    if (links[i].url.starts_with("https://") || links[i].url.starts_with("http://")) {
      html->Element("a", links[i].title, {{"href", links[i].url}, {"rel", "noreferrer"}});
    } else {
      html->Text(links[i].title);
    }
  }
  html->Close();
}

void AddNotes(const Remedy& remedy, const std::string& safe_why, HtmlWriter* html) {
  for (const std::string* text : {&safe_why, &remedy.gain, &remedy.note}) {
    if (text->empty()) continue;
    html->Open("p");
    html->Sentence(*text);
    html->Close();
  }
  AddLinks(remedy.links, html);
}

void FindingHtml::AddVerdict() {
  html_.Open("header", {{"class", "verdict"}});
  html_.Open(HeadingElement(layout_.level));
  html_.Element("span", finding_.failure->code, {{"class", "code"}});
  html_.Text(" " + finding_.failure->title);
  html_.Close();
  if (const std::string scenario = ScenarioText(finding_); !scenario.empty())
    html_.Element("p", scenario, {{"class", "scenario"}});
  if (finding_.confidence == Confidence::kLow)
    html_.Element("p", "Only a fragment of the message is in the log, so little can be said for sure.",
                  {{"class", "scenario"}});
  html_.Open("p", {{"class", "faint"}});
  html_.Element("code", Name(PlaceText(finding_)));
  for (const std::string_view name : {"module", "program", "device", "chip"}) {
    const auto fact = TextFact(finding_, name);
    if (!fact) continue;
    html_.Text(" · ");
    html_.Element("code", Name(*fact));
  }
  if (!finding_.framework.empty()) html_.Text(" · " + finding_.framework);
  if (finding_.tally.occurrences() > 1)
    html_.Text(fmt::format(" · reported by {}{} processes", finding_.tally.hosts.complete() ? "" : "about ",
                           finding_.tally.occurrences()));
  html_.Close();
  html_.Close();
  html_.Line();
}

void FindingHtml::AddNumbers() {
  if (!need_) return;
  const auto add = [&](const std::string& value, const std::string& label, const std::string& style) {
    html_.Open("div", {{"class", style}});
    html_.Element("dt", label);
    html_.Element("dd", value);
    html_.Close();
  };
  html_.Open("dl", {{"class", "numbers"}});
  add(SizeText(need_->need), need_->need_word, "number-tile");
  add(SizeText(need_->have), need_->have_word, "number-tile");
  if (need_->excess > 0) add((need_->at_most ? "< " : "") + SizeText(need_->excess), "too much", "number-tile bad");
  html_.Close();
  html_.Line();
}

void FindingHtml::AddReason(const Reason& reason) {
  html_.Open("li");
  html_.Sentence(Cut(reason.text));
  if (reason.line > 0) html_.Element("span", fmt::format(" line {}", reason.line), {{"class", "line"}});
  html_.Close();
}

void FindingHtml::AddWhy() {
  if (finding_.why.empty()) return;
  html_.Element(HeadingElement(layout_.level + 1), "Why");
  html_.Open("ul", {{"class", "why"}});
  for (std::size_t i = 0; i < std::min(finding_.why.size(), kReasons); ++i) AddReason(finding_.why[i]);
  html_.Close();
  html_.Line();
}

void FindingHtml::AddChips(const RankedRemedy& ranked) {
  html_.Open("p", {{"class", "chips"}});
  const auto chip = [&](const std::string& text, const char* style) {
    html_.Element("span", text, {{"class", style}});
    html_.Text(" ");
  };
  if (ranked.saves_bytes && *ranked.saves_bytes > 0) chip(SavesText(ranked), "chip");
  if (ranked.enough && ranked.enough_with.empty())
    chip(VerdictText(ranked), *ranked.enough && !ranked.borderline ? "chip good" : "chip");
  if (!ranked.enough_with.empty()) {
    std::string other = ranked.enough_with.front();
    for (const RankedRemedy& with : finding_.remedies) {
      if (with.remedy->id == other) other = fmt::format("{}, {}", with.rank, with.remedy->title);
    }
    chip("enough together with " + other, "chip good");
  }
  const std::string& safety = ranked.safety;
  chip(ranked.remedy->inquiry ? "finds out more" : SafetyText(safety),
       ranked.remedy->inquiry || safety.starts_with("safe") ? "chip" : "chip careful");
  html_.Close();
}

void FindingHtml::AddSteps(const RankedRemedy& ranked) {
  if (ranked.how.empty()) return;
  const bool folded = ranked.rank > 1;
  if (folded) html_.Open("details", {{"class", "steps"}});
  html_.Element(folded ? "summary" : "p", "How", {{"class", "how"}});
  html_.Open("ul");
  for (const std::string& step : ranked.how) {
    html_.Open("li");
    html_.Sentence(Cut(step));
    html_.Close();
  }
  html_.Close();
  if (folded) html_.Close();
}

void FindingHtml::AddBackground(const RankedRemedy& ranked) {
  if (layout_.remedies_elsewhere) {
    html_.Open("p", {{"class", "links"}});
    html_.Element("a", "Good to know", {{"href", "#remedy-" + ranked.remedy->id}});
    html_.Close();
    return;
  }
  html_.Open("details");
  html_.Element("summary", "Good to know");
  AddNotes(*ranked.remedy, ranked.safe_why, &html_);
  html_.Close();
}

void FindingHtml::AddRemedy(const RankedRemedy& ranked) {
  html_.Open("li", {{"class", "remedy"}, {"value", fmt::format("{}", ranked.rank)}});
  html_.Element(HeadingElement(layout_.level + 2), ranked.remedy->title);
  AddChips(ranked);
  if (need_ && need_->excess > 0 && ranked.saves_bytes && *ranked.saves_bytes > 0) DrawEffect(*need_, ranked, &html_);
  if (!ranked.why.empty()) {
    html_.Open("ul", {{"class", "why"}});
    for (std::size_t i = 0; i < std::min(ranked.why.size(), kReasons); ++i) AddReason(ranked.why[i]);
    html_.Close();
  }
  AddSteps(ranked);
  AddBackground(ranked);
  html_.Close();
  html_.Line();
}

// In one paragraph, each with what it would do.
void FindingHtml::AddOtherRemedies(std::size_t from) {
  html_.Open("p");
  html_.Text("Then: ");
  for (std::size_t i = from; i < finding_.remedies.size(); ++i) {
    const RankedRemedy& ranked = finding_.remedies[i];
    if (i > from) html_.Text(" · ");
    html_.Text(fmt::format("{} ", ranked.rank));
    html_.Element("a", ranked.remedy->title, {{"href", "#remedy-" + ranked.remedy->id}});
    if (ranked.saves_bytes && *ranked.saves_bytes > 0) html_.Text(" (" + SavesText(ranked) + ")");
  }
  html_.Close();
}

void FindingHtml::AddRemedies() {
  if (finding_.remedies.empty()) return;
  html_.Element(HeadingElement(layout_.level + 1), "What to do");
  if (finding_.budget && !IsOneRemedy(*finding_.budget))
    html_.Element("p", BudgetText(*finding_.budget), {{"class", "sum"}});
  html_.Open("ol", {{"class", "remedies"}});
  const std::size_t whole = std::min(finding_.remedies.size(), layout_.whole_remedies);
  for (std::size_t i = 0; i < whole; ++i) AddRemedy(finding_.remedies[i]);
  html_.Close();
  if (whole < finding_.remedies.size()) AddOtherRemedies(whole);
  html_.Line();
}

void FindingHtml::AddAllocation(const Allocation& row, const BarScale& scale) {
  const auto size = static_cast<double>(row.size_bytes.value_or(0));
  const double padding = std::clamp(static_cast<double>(row.padding_bytes.value_or(0)), 0.0, size);
  html_.Open("tr");
  html_.Element("td", row.size_bytes ? FormatSize(*row.size_bytes) : "?", {{"class", "number"}});
  html_.Open("td", {{"class", "drawn"}});
  DrawBar({{size - padding, "row-a", "", false}, {padding, "row-a", "", true}}, scale, "thin", "", &html_);
  html_.Close();
  std::string padded = padding > 0 ? SizeText(padding) : "–";
  if (padding > 0 && row.padding_factor) padded += fmt::format(" ({:.3g} ×)", *row.padding_factor);
  html_.Element("td", padded, {{"class", "number"}});
  html_.Open("td");
  html_.Element("code", Shorten(Printable(row.array ? row.array->shape : WithoutLayouts(row.shape_text)), kShape));
  if (row.array && !row.array->layout.empty()) html_.Element("code", Name(row.array->layout), {{"class", "layout"}});
  html_.Close();
  html_.Open("td");
  html_.Element("code", Name(row.op_name.empty() ? row.xla_label : row.op_name));
  if (!row.kind.empty()) html_.Element("span", " " + Name(row.kind), {{"class", "faint"}});
  html_.Close();
  html_.Open("td");
  if (!row.source_file.empty()) html_.Element("code", SourceText(row), {{"title", Name(row.source_file)}});
  html_.Close();
  html_.Element("td", row.place.line > 0 ? fmt::format("{}", row.place.line) : "", {{"class", "number"}});
  html_.Close();
  html_.Line();
}

void FindingHtml::AddAllocations() {
  if (finding_.allocations.empty()) return;
  html_.Element(HeadingElement(layout_.level + 1), "The allocations that the log lists");
  html_.Open("div", {{"class", "scroll"}, {"role", "region"}, {"aria-label", "Allocations"}, {"tabindex", "0"}});
  html_.Open("table", {{"class", "allocations"}});
  html_.Element("caption", "Size of each beside the limit; hatched is padding", {{"class", "faint"}});
  html_.Open("thead");
  html_.Open("tr");
  for (const char* head : {"size", "", "padding", "shape and layout", "what", "source", "log line"}) {
    const bool number =
        std::string_view(head) == "size" || std::string_view(head) == "padding" || std::string_view(head) == "log line";
    if (*head == '\0') {
      html_.Element("td", "");
    } else {
      html_.Element("th", head, {{"scope", "col"}, {"class", number ? "number" : "text"}});
    }
  }
  html_.Close();
  html_.Close();
  html_.Open("tbody");
  BarScale scale = need_ ? BarScale{need_->have * 1.02, need_->have} : BarScale{};
  for (const Allocation& row : finding_.allocations)
    scale.whole = std::max(scale.whole, static_cast<double>(row.size_bytes.value_or(0)));
  const std::size_t shown = std::min(finding_.allocations.size(), layout_.allocations);
  for (std::size_t i = 0; i < shown; ++i) AddAllocation(finding_.allocations[i], scale);
  html_.Close();
  html_.Close();
  html_.Close();
  const std::uint64_t more = finding_.allocations.size() - shown + finding_.allocations_left_out;
  if (more > 0) html_.Element("p", fmt::format("and {} more (--format json has them)", more), {{"class", "faint"}});
}

void FindingHtml::AddRuledOut() {
  if (finding_.ruled_out.empty()) return;
  html_.Open("details", {{"class", "section"}});
  html_.Open("summary");
  html_.Element(HeadingElement(layout_.level + 1), "Not worth trying here");
  html_.Close();
  html_.Open("ul");
  for (const RuledOut& out : finding_.ruled_out) {
    html_.Open("li");
    html_.Element("strong", out.remedy->title);
    html_.Text(": ");
    html_.Sentence(Cut(out.why));
    html_.Close();
  }
  html_.Close();
  html_.Close();
  html_.Line();
}

void FindingHtml::AddOrigin() {
  html_.Open("details", finding_.why.empty() ? HtmlWriter::Attributes{{"class", "section"}, {"open", "open"}}
                                             : HtmlWriter::Attributes{{"class", "section"}});
  html_.Open("summary");
  html_.Element(HeadingElement(layout_.level + 1), "The message and where it stands");
  html_.Close();
  if (!finding_.message.empty()) html_.Element("pre", CutBytes(Printable(finding_.message), kMessage));
  html_.Open("ul");
  html_.Open("li");
  html_.Element("code", Name(ArtifactText(finding_.where.artifact)));
  html_.Text(
      fmt::format(", lines {} to {}", finding_.where.line, std::max(finding_.where.line, finding_.where.last_line)));
  html_.Close();
  const std::vector<std::string> also = AlsoTexts(finding_);
  for (std::size_t i = 0; i < std::min(also.size(), kPlaces); ++i) {
    html_.Open("li");
    html_.Text("also ");
    html_.Element("code", Name(also[i]));
    html_.Close();
  }
  if (also.size() > kPlaces) html_.Element("li", fmt::format("and {} more", also.size() - kPlaces));
  html_.Open("li");
  html_.Element("code", ExplainCommand(finding_));
  html_.Text(" says what it means, offline");
  html_.Close();
  html_.Close();
  AddLinks(finding_.failure->links, &html_);
  html_.Close();
  html_.Line();
}

}  // namespace

void AddFinding(const Finding& finding, const FindingLayout& layout, HtmlWriter* html) {
  FindingHtml(finding, layout, html).Add();
}

void AddRemedyNotes(const std::set<const Remedy*>& remedies, HtmlWriter* html) {
  std::vector<const Remedy*> sorted(remedies.begin(), remedies.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Remedy* a, const Remedy* b) { return std::pair(a->title, a->id) < std::pair(b->title, b->id); });
  for (const Remedy* remedy : sorted) {
    html->Open("details", {{"class", "note"}});
    html->Element("summary", remedy->title);
    html->Open("div", {{"id", "remedy-" + remedy->id}, {"tabindex", "-1"}});
    AddNotes(*remedy, remedy->safe_why, html);
    html->Close();
    html->Close();
    html->Line();
  }
}

std::string PlaceText(const Finding& finding) {
  return ArtifactText(finding.where.artifact) + fmt::format(":{}", finding.where.line);
}

}  // namespace whyoom
