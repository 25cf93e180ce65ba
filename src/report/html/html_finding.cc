#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/finding_view.h"
#include "report/html/html_charts.h"
#include "report/html/html_parts.h"
#include "report/layout.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kSentence = 2000;          // bytes
constexpr std::size_t kMessage = 8000;           // bytes
constexpr std::size_t kLongestAllocation = 240;  // columns
constexpr std::size_t kShape = 90;               // columns; of tuples mostly
constexpr std::size_t kPlaces = 50;
constexpr std::size_t kReasons = 20;

std::string Cut(const std::string& text) { return CutBytes(Printable(text), kSentence); }

std::string Name(const std::string& text) { return Shorten(Printable(text), kLongestAllocation); }

class FindingHtml {
 public:
  FindingHtml(const Diagnosis& finding, const FindingLayout& layout, HtmlWriter* html)
      : finding_(finding), layout_(layout), html_(*html), need_(NeedOf(finding)) {}

  void Add() {
    AddVerdict();
    AddNumbers();
    if (need_) html_.Heading(layout_.level + 1, "What fills the memory");
    DrawMemory(finding_, layout_.allocations, &html_);
    AddWhy();
    AddRemedies();
    AddRetry();
    if (finding_.prospects)
      AddMemory(*finding_.prospects, finding_.facts.Number("limit_bytes"), layout_.level + 1, &html_);
    AddAllocations();
    AddRuledOut();
    AddOrigin();
  }

 private:
  void AddVerdict();
  void AddNumbers();
  void AddWhy();
  void AddReasons(const std::vector<Reason>& reasons);
  // A part of the page that is folded under its heading.
  HtmlWriter::Scope Folded(const char* heading, bool open);
  void AddRemedies();
  void AddRemedy(const RankedRemedy& ranked);
  void AddRemedyList(std::size_t from, std::size_t to);
  void AddOtherRemedies(std::size_t from, std::size_t to);
  void AddChips(const RankedRemedy& ranked);
  void AddSteps(const RankedRemedy& ranked);
  void AddBackground(const RankedRemedy& ranked);
  void AddRetry();
  void AddAllocations();
  void AddAllocation(const Allocation& row, const BarScale& scale);
  void AddRuledOut();
  void AddOrigin();

  const Diagnosis& finding_;
  const FindingLayout& layout_;
  HtmlWriter& html_;
  std::optional<Need> need_;
};

void AddLinks(const std::vector<Link>& links, HtmlWriter* html) {
  if (links.empty()) return;
  const auto in = html->In("p", {{"class", "links"}});
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i > 0) html->Text(" · ");
    if (links[i].url.starts_with("https://") || links[i].url.starts_with("http://")) {
      html->Element("a", links[i].title, {{"href", links[i].url}, {"rel", "noreferrer"}});
    } else {
      html->Text(links[i].title);
    }
  }
}

void AddNotes(const Remedy& remedy, const std::string& safe_why, HtmlWriter* html) {
  for (const std::string* text : {&safe_why, &remedy.gain, &remedy.note}) {
    if (!text->empty()) html->SentenceElement("p", *text);
  }
  AddLinks(remedy.links, html);
}

void FindingHtml::AddVerdict() {
  const FindingView view = ViewOf(finding_);
  const auto header = html_.Block("header", {{"class", "verdict"}});
  {
    const auto heading = html_.In(HtmlWriter::HeadingElement(layout_.level));
    html_.Element("span", view.code, {{"class", "code"}});
    html_.Text(" " + view.title);
  }
  for (const std::string* text : {&view.scenario, &view.caution}) {
    if (!text->empty()) html_.Element("p", *text, {{"class", "scenario"}});
  }
  const auto circumstances = html_.In("p", {{"class", "faint"}});
  html_.Element("code", Name(view.place));
  std::vector<std::string> names = view.names;
  if (!view.chip.empty()) names.push_back(view.chip);
  for (const std::string& name : names) {
    html_.Text(" · ");
    html_.Element("code", Name(name));
  }
  for (const std::string* text : {&view.framework, &view.reporters}) {
    if (!text->empty()) html_.Text(" · " + *text);
  }
}

void FindingHtml::AddNumbers() {
  if (!need_) return;
  const auto list = html_.Block("dl", {{"class", "numbers"}});
  const auto add = [&](const std::string& value, const std::string& label, const std::string& style) {
    const auto tile = html_.In("div", {{"class", style}});
    html_.Element("dt", label);
    html_.Element("dd", value);
  };
  add(SizeText(need_->need), need_->need_word, "number-tile");
  add(SizeText(need_->have), need_->have_word, "number-tile");
  if (need_->excess > 0) add((need_->at_most ? "< " : "") + SizeText(need_->excess), "too much", "number-tile bad");
}

void FindingHtml::AddReasons(const std::vector<Reason>& reasons) {
  const auto list = html_.In("ul", {{"class", "why"}});
  for (std::size_t i = 0; i < std::min(reasons.size(), kReasons); ++i) {
    const auto item = html_.In("li");
    html_.Sentence(Cut(reasons[i].text));
    if (reasons[i].line > 0) html_.Element("span", fmt::format(" line {}", reasons[i].line), {{"class", "line"}});
  }
}

void FindingHtml::AddWhy() {
  if (finding_.why.empty()) return;
  html_.Heading(layout_.level + 1, "Why");
  AddReasons(finding_.why);
  html_.Line();
}

void FindingHtml::AddChips(const RankedRemedy& ranked) {
  const auto chips = html_.In("p", {{"class", "chips"}});
  const auto chip = [&](const std::string& text, const char* style) {
    html_.Element("span", text, {{"class", style}});
    html_.Text(" ");
  };
  if (const std::string saves = SavesText(ranked); !saves.empty()) chip(saves, "chip");
  if (ranked.enough && ranked.enough_with.empty())
    chip(EnoughText(ranked), *ranked.enough && !ranked.borderline ? "chip good" : "chip");
  if (!ranked.enough_with.empty()) {
    std::string other = ranked.enough_with.front();
    for (const RankedRemedy& with : finding_.remedies) {
      if (with.remedy->id == other) other = fmt::format("{}, {}", with.rank, with.remedy->title);
    }
    chip("enough together with " + other, "chip good");
  }
  chip(SafetyText(ranked), ranked.remedy->inquiry || ranked.safety.starts_with("safe") ? "chip" : "chip careful");
}

void FindingHtml::AddSteps(const RankedRemedy& ranked) {
  if (ranked.how.empty()) return;
  const bool folded = ranked.rank > 1;
  std::optional<HtmlWriter::Scope> details;
  if (folded) details.emplace(html_.In("details", {{"class", "steps"}}));
  html_.Element(folded ? "summary" : "p", "How", {{"class", "how"}});
  const auto list = html_.In("ul");
  for (const std::string& step : ranked.how) html_.SentenceElement("li", Cut(step));
}

void FindingHtml::AddBackground(const RankedRemedy& ranked) {
  if (layout_.remedies_elsewhere) {
    const auto in = html_.In("p", {{"class", "links"}});
    html_.Element("a", "Good to know", {{"href", "#remedy-" + ranked.remedy->id}});
    return;
  }
  const auto details = html_.In("details");
  html_.Element("summary", "Good to know");
  AddNotes(*ranked.remedy, ranked.safe_why, &html_);
}

void FindingHtml::AddRemedy(const RankedRemedy& ranked) {
  const auto item = html_.Block("li", {{"class", "remedy"}, {"value", fmt::format("{}", ranked.rank)}});
  html_.Heading(layout_.level + 2, ranked.remedy->title);
  AddChips(ranked);
  if (need_ && need_->excess > 0 && !SavesText(ranked).empty()) DrawEffect(*need_, ranked, &html_);
  if (!ranked.why.empty()) AddReasons(ranked.why);
  AddSteps(ranked);
  AddBackground(ranked);
}

void FindingHtml::AddRemedyList(std::size_t from, std::size_t to) {
  const auto list = html_.In("ol", {{"class", "remedies"}});
  for (std::size_t i = from; i < to; ++i) AddRemedy(finding_.remedies[i]);
}

// In one paragraph, each with what it would do.
void FindingHtml::AddOtherRemedies(std::size_t from, std::size_t to) {
  const auto in = html_.In("p");
  html_.Text("Then: ");
  for (std::size_t i = from; i < to; ++i) {
    const RankedRemedy& ranked = finding_.remedies[i];
    if (i > from) html_.Text(" · ");
    html_.Text(fmt::format("{} ", ranked.rank));
    html_.Element("a", ranked.remedy->title, {{"href", "#remedy-" + ranked.remedy->id}});
    if (const std::string saves = SavesText(ranked); !saves.empty()) html_.Text(" (" + saves + ")");
  }
}

void FindingHtml::AddRemedies() {
  if (finding_.remedies.empty()) return;
  html_.Heading(layout_.level + 1, "What to do");
  if (const std::string steps_for = StepsForText(finding_); !steps_for.empty())
    html_.Element("p", steps_for, {{"class", "faint"}});
  if (finding_.budget && !IsOneRemedy(*finding_.budget))
    html_.Element("p", BudgetText(*finding_.budget), {{"class", "sum"}});
  const std::size_t ranked = RankedCount(finding_);
  const std::size_t whole = std::min(ranked, layout_.whole_remedies);
  AddRemedyList(0, whole);
  if (whole < ranked) AddOtherRemedies(whole, ranked);
  if (ranked < finding_.remedies.size()) {
    html_.Heading(layout_.level + 1, kFreeHeading);
    AddRemedyList(ranked, finding_.remedies.size());
  }
  html_.Line();
}

void FindingHtml::AddRetry() {
  if (const std::string text = RetryText(finding_.retry); !text.empty()) {
    html_.SentenceElement("p", Cut(text));
    html_.Line();
  }
}

void FindingHtml::AddAllocation(const Allocation& row, const BarScale& scale) {
  const auto size = static_cast<double>(row.size_bytes.value_or(0));
  const double padding = std::clamp(static_cast<double>(row.padding_bytes.value_or(0)), 0.0, size);
  const auto in = html_.Block("tr");
  html_.Element("td", row.size_bytes ? FormatSize(*row.size_bytes) : "?", {{"class", "number"}, {"data-name", "size"}});
  {
    const auto cell = html_.In("td", {{"class", "drawn"}});
    DrawBar({{size - padding, "row-a", "", false}, {padding, "row-a", "", true}}, scale, "thin", "", &html_);
  }
  std::string padded = padding > 0 ? SizeText(padding) : "–";
  if (padding > 0 && row.padding_factor) padded += fmt::format(" ({:.3g} ×)", *row.padding_factor);
  html_.Element("td", padded, {{"class", "number"}, {"data-name", "padding"}});
  {
    const auto cell = html_.In("td", {{"data-name", "shape"}});
    html_.Element("code", Shorten(Printable(row.array ? row.array->shape : WithoutLayouts(row.shape_text)), kShape));
    if (row.array && !row.array->layout.empty()) html_.Element("code", Name(row.array->layout), {{"class", "layout"}});
  }
  {
    const auto cell = html_.In("td", {{"data-name", "what"}});
    html_.Element("code", Name(row.op_name.empty() ? row.xla_label : row.op_name));
    if (!row.kind.empty()) html_.Element("span", " " + Name(row.kind), {{"class", "faint"}});
  }
  {
    const auto cell = html_.In("td", {{"data-name", row.source_file.empty() ? "" : "source"}});
    if (!row.source_file.empty()) html_.Element("code", SourceText(row), {{"title", Name(row.source_file)}});
  }
  const std::string line = row.place.line > 0 ? fmt::format("{}", row.place.line) : "";
  html_.Element("td", line, {{"class", "number"}, {"data-name", line.empty() ? "" : "log line"}});
}

void FindingHtml::AddAllocations() {
  if (finding_.allocations.empty()) return;
  html_.Heading(layout_.level + 1, finding_.facts.Find("dump") == nullptr ? "The allocations that the log lists"
                                                                          : "The allocations that the dump lists");
  const std::size_t shown = std::min(finding_.allocations.size(), layout_.allocations);
  BarScale scale = need_ ? BarScale{need_->have * 1.02, need_->have} : BarScale{};
  for (const Allocation& row : finding_.allocations)
    scale.whole = std::max(scale.whole, static_cast<double>(row.size_bytes.value_or(0)));
  {
    const auto scroll =
        html_.In("div", {{"class", "scroll"}, {"role", "region"}, {"aria-label", "Allocations"}, {"tabindex", "0"}});
    const auto table = html_.In("table", {{"class", "allocations"}});
    html_.Element("caption", "Size of each beside the limit; hatched is padding", {{"class", "faint"}});
    html_.TableHead(
        {{"size", true}, {""}, {"padding", true}, {"shape and layout"}, {"what"}, {"source"}, {"log line", true}});
    const auto body = html_.In("tbody");
    for (std::size_t i = 0; i < shown; ++i) AddAllocation(finding_.allocations[i], scale);
  }
  const std::uint64_t more = finding_.allocations.size() - shown + finding_.allocations_left_out;
  if (more > 0) html_.Element("p", fmt::format("and {} more (--format json has them)", more), {{"class", "faint"}});
}

HtmlWriter::Scope FindingHtml::Folded(const char* heading, bool open) {
  HtmlWriter::Attributes attributes = {{"class", "section"}};
  if (open) attributes.emplace_back("open", "open");
  HtmlWriter::Scope details = html_.Block("details", attributes);
  const auto summary = html_.In("summary");
  html_.Heading(layout_.level + 1, heading);
  return details;
}

void FindingHtml::AddRuledOut() {
  if (finding_.ruled_out.empty()) return;
  const auto section = Folded("Not worth trying here", false);
  const auto list = html_.In("ul");
  for (const RuledOut& out : finding_.ruled_out) {
    const auto item = html_.In("li");
    html_.Element("strong", out.remedy->title);
    html_.Text(": ");
    html_.Sentence(Cut(out.why));
  }
}

void FindingHtml::AddOrigin() {
  const auto section = Folded("The message and where it stands", finding_.why.empty());
  if (!finding_.message.empty()) html_.Element("pre", CutBytes(Printable(finding_.message), kMessage));
  {
    const auto list = html_.In("ul");
    const auto item = [&](const std::string& before, const std::string& code, const std::string& behind) {
      const auto in = html_.In("li");
      html_.Text(before);
      html_.Element("code", code);
      html_.Text(behind);
    };
    const Where& where = finding_.where;
    item("", Name(ArtifactText(where.artifact)),
         fmt::format(", lines {} to {}", where.line, std::max(where.line, where.last_line)));
    const std::vector<std::string> also = AlsoTexts(finding_);
    for (std::size_t i = 0; i < std::min(also.size(), kPlaces); ++i) item("also ", Name(also[i]), "");
    if (also.size() > kPlaces) html_.Element("li", fmt::format("and {} more", also.size() - kPlaces));
    item("", ExplainCommand(finding_), " says what it means, offline");
  }
  AddLinks(finding_.failure->links, &html_);
}

}  // namespace

void AddFinding(const Diagnosis& finding, const FindingLayout& layout, HtmlWriter* html) {
  FindingHtml(finding, layout, html).Add();
}

void AddRemedyNotes(const std::set<const Remedy*>& remedies, HtmlWriter* html) {
  std::vector<const Remedy*> sorted(remedies.begin(), remedies.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Remedy* a, const Remedy* b) { return std::pair(a->title, a->id) < std::pair(b->title, b->id); });
  for (const Remedy* remedy : sorted) {
    const auto details = html->Block("details", {{"class", "note"}});
    {
      const auto summary = html->In("summary");
      html->Text(remedy->title + " ");
      html->Element("code", remedy->id);
    }
    const auto in = html->In("div", {{"id", "remedy-" + remedy->id}, {"tabindex", "-1"}});
    AddNotes(*remedy, remedy->safe_why, html);
  }
}

}  // namespace whyoom
