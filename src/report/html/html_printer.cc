#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "report/html/html_charts.h"
#include "report/html/html_writer.h"
#include "report/layout.h"
#include "report/printers.h"
#include "report/report_document.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostDetails = 4 << 20;  // total size of a batch's details
constexpr std::size_t kLargeBatch = 50;        // failures; with more, details are shorter
constexpr std::size_t kWideTable = 5;          // columns; of tables this wide, narrow screens show rows as cards

bool IsMore(const doc::Block& block) { return block.depth == doc::Depth::kMore; }

bool IsLink(const std::string& url) { return url.starts_with("https://") || url.starts_with("http://"); }

std::string MoreText(std::uint64_t left_out, const std::string& elsewhere) {
  return fmt::format("and {} more{}", left_out, elsewhere);
}

doc::BarScale WithMargin(doc::BarScale scale) {
  scale.whole *= kMargin;
  return scale;
}

// Consecutive sections that are placed side by side, in an element of this class.
class Columns {
 public:
  Columns(const char* element_class, HtmlWriter* html) : class_(element_class), html_(*html) {}

  // Call before each section; the returned scope is that of one that is placed beside others.
  std::optional<HtmlWriter::Scope> Column(bool beside) {
    if (beside && !all_) all_.emplace(html_.In("div", {{"class", class_}}));
    if (!beside) all_.reset();
    if (!beside) return std::nullopt;
    return html_.Block("section", {{"class", "shares"}});
  }

 private:
  const char* class_;
  HtmlWriter& html_;
  std::optional<HtmlWriter::Scope> all_;
};

class HtmlRenderer {
 public:
  // `level` is that of the first heading; `linked` contains the anchors that table rows may link to.
  HtmlRenderer(int level, const std::set<std::string>* linked, HtmlWriter* html)
      : level_(level), heading_(level), linked_(linked), html_(*html) {}

  // Adds the kMore blocks as one folded block at the end; sections and facts stay in place.
  void Add(const doc::Blocks& blocks);
  void AddHead(const doc::Blocks& blocks);

  void operator()(const doc::Verdict& verdict);
  void operator()(const doc::Heading& heading) { html_.Heading(level_, heading.text); }
  void operator()(const doc::Section& section) {
    AddTitle(section);
    AddBody(section);
  }
  void operator()(const doc::Paragraph& paragraph) { AddElement("p", paragraph.text); }
  void operator()(const doc::Facts& facts);
  void operator()(const doc::List& list);
  void operator()(const doc::Table& table);
  void operator()(const doc::NeedBar& bar);
  void operator()(const doc::MemoryBar& bar);
  void operator()(const doc::Timeline& timeline);
  void operator()(const doc::TimesChart& chart) { DrawTimes(chart.times, "Failures", &html_); }
  void operator()(const doc::Command& command);
  void operator()(const doc::Code& code) {
    for (const doc::CodeLine& line : code.lines) html_.Element("pre", line.text);
  }
  void operator()(const doc::Pre& pre) { html_.Element("pre", pre.text); }

 private:
  void Visit(const doc::Block& block);
  void AddTitle(const doc::Section& section) {
    if (section.anchor.empty()) return html_.Heading(heading_ + 1, section.title);
    html_.Heading(heading_ + 1, section.title, {{"id", section.anchor}});
  }
  void AddBody(const doc::Section& section) {
    title_ = section.title;
    Add(section.blocks);
    html_.Line();
  }
  void AddSpan(const doc::Span& span);
  void AddSpans(const doc::Spans& spans) {
    for (const doc::Span& span : spans) AddSpan(span);
  }
  void AddElement(std::string_view element, const doc::Spans& spans, const HtmlWriter::Attributes& attributes = {}) {
    const auto in = html_.In(element, attributes);
    AddSpans(spans);
  }
  void AddItems(const doc::List& list, doc::Depth depth);
  void AddItem(const doc::Item& item);
  void AddNote(const doc::Item& item);
  void AddRemedy(const doc::Item& item);
  void AddSearch();
  void AddTable(const doc::Table& table, bool wide);
  void AddCell(const doc::Table& table, const doc::Row& row, std::size_t at);

  const int level_;
  int heading_;        // level of the last verdict
  std::string title_;  // of the section
  const std::set<std::string>* linked_;
  HtmlWriter& html_;
};

void HtmlRenderer::Visit(const doc::Block& block) {
  const auto* section = std::get_if<doc::Section>(&block.content);
  if (section == nullptr || !IsMore(block) || section->open) return std::visit(*this, block.content);
  const auto details = html_.Block("details", {{"class", "section"}});
  {
    const auto summary = html_.In("summary");
    AddTitle(*section);
  }
  AddBody(*section);
}

void HtmlRenderer::Add(const doc::Blocks& blocks) {
  std::vector<const doc::Block*> more;
  Columns memory("memory-columns", &html_);
  for (const doc::Block& block : blocks) {
    const auto* section = std::get_if<doc::Section>(&block.content);
    const std::string_view label = section == nullptr ? std::string_view() : section->label;
    const auto column = memory.Column(label == "peak" || label == "kinds" || label == "fits");
    const bool stays =
        std::holds_alternative<doc::Section>(block.content) || std::holds_alternative<doc::Facts>(block.content);
    if (IsMore(block) && !stays) {
      more.push_back(&block);
    } else {
      Visit(block);
    }
  }
  if (more.empty()) return;
  const auto details = html_.In("details", {{"class", "more"}});
  html_.Element("summary", "More");
  for (const doc::Block* block : more) std::visit(*this, block->content);
}

// Places the narrow tables of an overview side by side.
void HtmlRenderer::AddHead(const doc::Blocks& blocks) {
  Columns overview("overview", &html_);
  for (const doc::Block& block : blocks) {
    const auto* section = std::get_if<doc::Section>(&block.content);
    const auto* table = section == nullptr ? nullptr : std::get_if<doc::Table>(&section->blocks.front().content);
    const auto column = overview.Column(table != nullptr && table->columns.size() < kWideTable);
    Visit(block);
  }
}

void HtmlRenderer::AddSpan(const doc::Span& span) {
  switch (span.kind) {
    case doc::Span::Kind::kText:
    case doc::Span::Kind::kPage:
      return html_.Words(span.text);
    case doc::Span::Kind::kCode:
      return html_.Element("code", span.text);
    case doc::Span::Kind::kStrong:
      return html_.Element("strong", span.text);
    case doc::Span::Kind::kLink:
      if (!IsLink(span.url)) return html_.Text(span.text);
      return html_.Element("a", span.text, {{"href", span.url}, {"rel", "noreferrer"}});
    default:
      return html_.Element("span", span.text, {{"class", "faint"}});
  }
}

void HtmlRenderer::operator()(const doc::Verdict& verdict) {
  heading_ = level_ + verdict.level - 1;
  const auto header = html_.Block("header", {{"class", "verdict"}});
  {
    const auto heading = html_.In(HtmlWriter::HeadingElement(heading_));
    if (!verdict.code.empty()) {
      html_.Element("span", verdict.code, {{"class", "code"}});
      html_.Text(" ");
    }
    AddSpans(verdict.title);
  }
  for (const doc::Spans& note : verdict.notes) AddElement("p", note, {{"class", "scenario"}});
  AddElement("p", doc::Joined(verdict.facts, " · "), {{"class", "faint"}});
}

void HtmlRenderer::operator()(const doc::Facts& facts) {
  const auto chips = html_.In("p", {{"class", "chips"}});
  for (const doc::Spans& fact : facts.facts) {
    using Kind = doc::Span::Kind;
    const Kind kind = fact.empty() ? Kind::kText : fact.front().kind;
    html_.Text(" ");
    const auto chip = html_.In("span", {{"class", kind == Kind::kGood      ? "chip good"
                                                  : kind == Kind::kCareful ? "chip careful"
                                                  : kind == Kind::kBad     ? "chip bad"
                                                                           : "chip"}});
    for (const doc::Span& span : fact) html_.Words(span.text);
  }
}

// Adds the notes on a remedy. The page contains them only once.
void HtmlRenderer::AddNote(const doc::Item& item) {
  const auto details = html_.Block("details", {{"class", "note"}});
  {
    const auto summary = html_.In("summary");
    AddSpans(item.text);
    html_.Text(" ");
    html_.Element("code", item.id);
  }
  const auto in = html_.In("div", {{"id", item.details}, {"tabindex", "-1"}});
  for (const doc::Block& block : item.blocks) Visit(block);
}

void HtmlRenderer::AddRemedy(const doc::Item& item) {
  const auto in = html_.Block("li", {{"class", "remedy"}, {"data-rank", fmt::format("{}", item.number)}});
  {
    const auto heading = html_.In(HtmlWriter::HeadingElement(heading_ + 2));
    AddSpans(item.text);
    html_.Text(" ");
    html_.Element("code", item.id, {{"class", "id"}});
  }
  Add(item.blocks);
  if (item.details.empty()) return;
  const auto links = html_.In("p", {{"class", "links"}});
  html_.Element("a", "Notes on this remedy", {{"href", "#" + item.details}});
}

void HtmlRenderer::AddItem(const doc::Item& item) {
  if (item.number > 0) return AddRemedy(item);
  if (!item.details.empty()) return AddNote(item);
  const auto in = html_.Block("li");
  AddSpans(item.text);
  Add(item.blocks);
}

void HtmlRenderer::AddItems(const doc::List& list, doc::Depth depth) {
  const bool numbered = list.style == doc::List::Style::kNumbered;
  std::optional<HtmlWriter::Scope> in;
  if (list.items.front().details.empty() || numbered)
    in.emplace(html_.In(numbered ? "ol" : "ul", {{"class", numbered ? "remedies" : "list"}}));
  for (const doc::Item& item : list.items) {
    if (item.depth == depth) AddItem(item);
  }
  if (depth == doc::Depth::kAlways && list.left_out > 0) html_.Element("li", MoreText(list.left_out, list.elsewhere));
}

void HtmlRenderer::operator()(const doc::List& list) {
  if (list.items.empty()) return;
  AddItems(list, doc::Depth::kAlways);
  const auto more = std::count_if(list.items.begin(), list.items.end(),
                                  [](const doc::Item& item) { return item.depth == doc::Depth::kMore; });
  if (more == 0) return;
  const auto details = html_.In("details", {{"class", "steps"}});
  html_.Element("summary", fmt::format("{} more", more));
  AddItems(list, doc::Depth::kMore);
}

void HtmlRenderer::AddSearch() {
  const auto search = html_.In("p", {{"class", "search"}, {"id", "search"}, {"hidden", "hidden"}});
  html_.Element("label", "Search", {{"for", "words"}});
  html_.Text(" ");
  html_.Empty("input", {{"id", "words"}, {"type", "search"}, {"placeholder", "code, program, remedy, file …"}});
  html_.Text(" ");
  html_.Element("output", "", {{"id", "count"}, {"for", "words"}});
}

void HtmlRenderer::operator()(const doc::Table& table) {
  const bool searched = table.style == "failures";
  if (searched) AddSearch();
  if (table.columns.size() < kWideTable) {
    AddTable(table, false);
  } else {
    const auto scroll = html_.In("div", {{"class", searched ? "scroll tall" : "scroll"},
                                         {"role", "region"},
                                         {"aria-label", title_},
                                         {"tabindex", "0"}});
    AddTable(table, true);
  }
  if (table.left_out > 0) html_.Element("p", MoreText(table.left_out, table.elsewhere), {{"class", "faint"}});
}

void HtmlRenderer::AddTable(const doc::Table& table, bool wide) {
  HtmlWriter::Attributes attributes = {{"class", table.style}};
  if (table.style == "failures") attributes.emplace_back("id", table.style);
  const auto in = html_.In("table", attributes);
  const std::string_view caption = table.caption;
  const bool repeats = caption.empty() || caption.substr(1) == std::string_view(title_).substr(1);
  if (!repeats) html_.Element("caption", table.caption, {{"class", "faint"}});
  if (repeats && !wide) html_.Element("caption", title_, {{"class", "unseen"}});
  std::vector<HtmlWriter::Column> columns;
  for (const doc::Column& column : table.columns)
    columns.push_back({column.title.c_str(), column.kind == doc::Column::Kind::kNumber});
  html_.TableHead(columns);
  html_.Line();
  const auto body = html_.In("tbody");
  for (const doc::Row& row : table.rows) {
    const auto line = html_.Block("tr");
    for (std::size_t at = 0; at < table.columns.size(); ++at) AddCell(table, row, at);
  }
}

void HtmlRenderer::AddCell(const doc::Table& table, const doc::Row& row, std::size_t at) {
  const doc::Column& column = table.columns[at];
  const doc::Cell& cell = row.cells[at];
  if (column.kind == doc::Column::Kind::kSwatch) return AddSwatchHead(cell.bar.front(), &html_);
  if (column.kind == doc::Column::Kind::kBar) {
    const auto drawn = html_.In("td", {{"class", "drawn"}});
    return DrawBar(cell.bar, WithMargin(table.scale), "thin", "", &html_);
  }
  const bool is_head = at == 0 && column.kind == doc::Column::Kind::kText;
  HtmlWriter::Attributes attributes;
  if (is_head) attributes = {{"scope", "row"}};
  if (column.kind == doc::Column::Kind::kNumber) attributes = {{"class", "number"}};
  if (!is_head) attributes.emplace_back("data-name", cell.text.empty() ? "" : column.title);
  if (cell.value) attributes.emplace_back("data-v", fmt::format("{:.0f}", *cell.value));
  const auto in = html_.In(is_head ? "th" : "td", attributes);
  const bool linked = is_head && linked_ != nullptr && linked_->contains(row.anchor);
  for (std::size_t i = 0; i < cell.text.size(); ++i) {
    if (linked && i == 0) {
      html_.Element("a", cell.text[i].text, {{"href", "#" + row.anchor}});
    } else {
      AddSpan(cell.text[i]);
    }
  }
  if (!cell.bar.empty()) DrawBar(cell.bar, table.scale, "share", "", &html_);
}

void HtmlRenderer::operator()(const doc::NeedBar& bar) {
  {
    const auto list = html_.Block("dl", {{"class", "numbers"}});
    const auto add = [&](const std::string& value, const std::string& label, const std::string& style) {
      const auto tile = html_.In("div", {{"class", style}});
      html_.Element("dt", label);
      html_.Element("dd", value);
    };
    const Need& need = bar.need;
    add(SizeText(need.need), need.need_word, "number-tile");
    add(SizeText(need.have), need.have_word, "number-tile");
    if (need.excess > 0) add((need.at_most ? "< " : "") + SizeText(need.excess), "too much", "number-tile bad");
  }
  DrawNeed(bar, &html_);
}

void HtmlRenderer::operator()(const doc::MemoryBar& bar) {
  const auto figure = html_.Block(bar.thin ? "div" : "figure", {{"class", bar.thin ? "effect" : "memory"}});
  DrawBar(bar.parts, WithMargin(bar.scale), bar.thin ? "thin" : "thick", bar.alternative, &html_);
  if (!bar.thin && bar.scale.limit)
    html_.Element("p", "The dashed line is the limit, " + SizeText(*bar.scale.limit) + ".", {{"class", "faint"}});
}

void HtmlRenderer::operator()(const doc::Timeline& timeline) {
  const TimelineView& view = timeline.view;
  // A limit far above the peak would flatten the chart.
  const bool shows_limit = timeline.limit && *timeline.limit > 0 && *timeline.limit < 3 * view.most;
  ColumnChart chart;
  chart.heights = view.bytes;
  chart.whole = std::max(view.most, shows_limit ? *timeline.limit : 0) * kMargin;
  if (shows_limit) chart.limit = timeline.limit;
  chart.middle = PeakText(view);
  chart.titles = view.moments;
  chart.alternative = "Memory over time: " + chart.middle;
  chart.begin = "start";
  chart.end = "end";
  DrawColumns(chart, &html_);
}

void HtmlRenderer::operator()(const doc::Command& command) {
  const auto in = html_.In("p");
  html_.Element("code", command.command);
  html_.Text(" ");
  AddSpans(command.behind);
  if (command.url.empty()) return;
  html_.Text(" · ");
  AddSpan({command.url, doc::Span::Kind::kLink, command.url});
}

class HtmlPage {
 public:
  explicit HtmlPage(const doc::Document& document) : document_(document) {}

  std::string Print() {
    if (document_.batch) AddDetails();
    document_.batch ? AddBatch() : AddFew();
    const std::string content = std::exchange(html_, HtmlWriter()).Take();
    const bool has_chart = content.find("class=\"columns\"") != std::string::npos;
    html_.Verbatim("<!DOCTYPE html>\n");
    {
      const auto root = html_.Block("html", {{"lang", "en"}, {"xmlns", "http://www.w3.org/1999/xhtml"}});
      AddHead(document_.title, document_.batch || has_chart, &html_);
      const auto body = html_.In("body");
      AddPatterns(&html_);
      if (document_.batch)
        html_.Element("a", "Skip to the table of failures", {{"class", "skip"}, {"href", "#failures-title"}});
      {
        const auto main = html_.In("main");
        html_.Verbatim(content);
      }
      const auto footer = html_.In("footer");
      HtmlRenderer(1, nullptr, &html_).Add({doc::Paragraph{doc::Joined(document_.footer, " · ")}});
    }
    return html_.Take();
  }

 private:
  void AddDetails();
  void AddBatch();
  void AddFew();
  void AddPrograms() {
    for (const doc::Part& part : document_.programs) AddArticle(part, 2, &html_);
  }
  static void AddArticle(const doc::Part& part, int level, HtmlWriter* html) {
    const auto article = html->In("article");
    HtmlRenderer(level, nullptr, html).Add(Select(part.make(doc::Pass::kAll), doc::Pass::kAll, doc::Drawings::kKept));
  }

  const doc::Document& document_;
  HtmlWriter html_;
  std::string details_;
  std::set<std::string> anchors_;  // of the failures with details
};

void HtmlPage::AddDetails() {
  const doc::Pass pass = document_.failures.size() > kLargeBatch ? doc::Pass::kBrief : doc::Pass::kAll;
  for (const doc::Part& part : document_.failures) {
    HtmlWriter html;
    {
      const auto details = html.Block("details", {{"class", "case"}});
      HtmlRenderer renderer(3, nullptr, &html);
      {
        const auto summary = html.In("summary");
        for (const doc::Span& span : part.summary) html.Text(span.text);
      }
      const auto article = html.In("article", {{"id", part.anchor}, {"tabindex", "-1"}});
      renderer.Add(Select(part.make(pass), pass, doc::Drawings::kKept));
      const auto back = html.In("p");
      html.Element("a", "Back to all failures", {{"href", "#failures-title"}});
    }
    const std::string folded = html.Take();
    if (details_.size() + folded.size() > kMostDetails) break;
    details_ += folded;
    anchors_.insert(part.anchor);
  }
}

void HtmlPage::AddBatch() {
  HtmlRenderer renderer(1, &anchors_, &html_);
  renderer.AddHead(document_.head);
  renderer.Add(document_.table);
  renderer.Add(document_.notes);
  html_.Heading(2, "Each failure", {{"id", "details"}});
  if (anchors_.size() < document_.failures.size())
    html_.Element("p", fmt::format("Only the {} most frequent failures have details.", anchors_.size()),
                  {{"class", "faint"}});
  html_.Verbatim(details_);
  renderer.Add(document_.remedies);
  AddPrograms();
}

void HtmlPage::AddFew() {
  const bool several = document_.failures.size() > 1;
  if (several) html_.Heading(1, document_.title);
  HtmlRenderer renderer(1, nullptr, &html_);
  renderer.AddHead(document_.head);
  for (const doc::Part& part : document_.failures) AddArticle(part, several ? 2 : 1, &html_);
  AddPrograms();
  renderer.Add(document_.notes);
}

}  // namespace

std::string PrintHtml(const Report& report) { return HtmlPage(MakeDocument(report)).Print(); }

}  // namespace whyoom
