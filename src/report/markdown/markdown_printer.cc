#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/layout.h"
#include "report/markdown/markdown_text.h"
#include "report/printers.h"
#include "report/report_document.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kTableRows = 200;
constexpr std::size_t kShortName = 64;  // columns of a name in a table; longer names would hide other columns

// kHtml: a line of HTML (<summary>, <sub>), in which Markdown is not parsed.
enum class Where { kPage, kTable, kHtml };

std::string SpansText(const doc::Spans& spans, Where where = Where::kPage) {
  std::string text;
  for (const doc::Span& span : spans) {
    switch (span.kind) {
      case doc::Span::Kind::kCode:
        text += where == Where::kHtml
                    ? HtmlCode(span.text)
                    : MarkdownCode(where == Where::kTable ? Shorten(span.text, kShortName) : span.text);
        break;
      case doc::Span::Kind::kLink:
        text += MarkdownSentence(span.text) + ": " + MarkdownUrl(span.url);
        break;
      case doc::Span::Kind::kPage:
        text += "[" + MarkdownSentence(span.text) + "](" + span.url + ")";
        break;
      default:
        text += where == Where::kHtml ? HtmlSentence(span.text) : span.text;
    }
  }
  return text;
}

std::string FactsText(const std::vector<doc::Spans>& facts) { return SpansText(doc::Joined(facts, " · ")); }

std::string MoreText(std::uint64_t left_out, const std::string& elsewhere) {
  return left_out > 0 ? fmt::format("and {} more{}\n", left_out, elsewhere) : "";
}

// `summary` is HTML.
std::string Folded(const std::string& summary, const std::string& content) {
  return "<details>\n<summary>" + summary + "</summary>\n\n" + content + "\n</details>\n";
}

// Uses a fence that is longer than any in the code.
std::string Fenced(const doc::Code& code) {
  std::string fence = "```";
  std::string lines;
  for (const doc::CodeLine& line : code.lines) lines += Printable(line.text) + "\n";
  while (lines.find(fence) != std::string::npos) fence += '`';
  return fence + code.language + "\n" + lines + fence + "\n";
}

// Renders blocks as Markdown, separated by empty lines.
class MarkdownRenderer {
 public:
  explicit MarkdownRenderer(std::size_t most_of_table = std::string::npos) : most_of_table_(most_of_table) {}

  std::string Render(const doc::Blocks& blocks) {
    for (const doc::Block& block : blocks) std::visit(*this, block.content);
    return std::move(text_);
  }

  void operator()(const doc::Verdict& verdict) {
    const std::string code = MarkdownCode(verdict.code);
    page_level_ = verdict.level == 0 ? 1 : 0;
    Add(std::string(verdict.level == 0   ? "# "
                    : verdict.level == 1 ? "### "
                                         : "#### ") +
        code + (code.empty() ? "" : " ") + SpansText(verdict.title) + "\n");
    for (const doc::Spans& note : verdict.notes) Add(SpansText(note) + "\n");
    if (const std::string facts = FactsText(verdict.facts); !facts.empty()) Add(facts + "\n");
  }
  void operator()(const doc::Heading& heading) { Add("### " + heading.text + "\n"); }
  void operator()(const doc::Section& section);
  void operator()(const doc::Paragraph& paragraph) { Add(SpansText(paragraph.text) + "\n"); }
  void operator()(const doc::Facts& facts) { Add(FactsText(facts.facts) + "\n"); }
  void operator()(const doc::List& list) {
    const bool apart = indent_.empty() || !in_list_;
    std::string items;
    for (const doc::Item& item : list.items) items += ItemText(item, list.style == doc::List::Style::kNumbered);
    if (list.left_out > 0) items += indent_ + "- " + MoreText(list.left_out, list.elsewhere);
    apart ? Add(items) : void(text_ += items);
  }
  void operator()(const doc::Table& table);
  void operator()(const doc::NeedBar& /*bar*/) {}
  void operator()(const doc::MemoryBar& /*bar*/) {}
  void operator()(const doc::Timeline& timeline) { Add("Memory over time: " + PeakText(timeline.view) + ".\n"); }
  void operator()(const doc::TimesChart& /*chart*/) {}
  void operator()(const doc::Command& command) {
    if (command.behind.empty()) return Add(MarkdownBlock(command.command));
    Add(MarkdownCode(command.command) + " · " + SpansText(command.behind) +
        (command.url.empty() ? "" : " · " + MarkdownUrl(command.url)) + "\n");
  }
  void operator()(const doc::Code& code) {
    if (!code.caption.empty()) Add(MarkdownSentence(code.caption) + "\n");
    Add(Fenced(code));
  }
  void operator()(const doc::Pre& pre) {
    if (!in_list_) return Add(MarkdownBlock(pre.text));
    text_ += indent_ + "- " + MarkdownCode(pre.text) + "\n";
  }

 private:
  void Add(const std::string& block) { text_ += (text_.empty() ? "" : "\n") + block; }
  std::string ItemText(const doc::Item& item, bool numbered);

  const std::size_t most_of_table_;  // bytes
  std::string text_;
  std::size_t page_level_ = 0;  // of the current heading; 0: a report, whose sections have bold titles
  std::string indent_;          // of content below an item
  bool in_list_ = false;
};

void MarkdownRenderer::operator()(const doc::Section& section) {
  const std::string anchor = section.anchor.empty() ? "" : "<a id=\"" + section.anchor + "\"></a>";
  Add(page_level_ == 0 ? "**" + section.title + "**\n"
                       : std::string(++page_level_, '#') + " " + anchor + MarkdownSentence(section.title) + "\n");
  for (const doc::Block& block : section.blocks) std::visit(*this, block.content);
  if (page_level_ > 0) --page_level_;
}

// "**Cost** none"; a link is not set in bold.
std::string LabelText(const doc::Spans& label) {
  if (label.empty()) return "";
  const std::string text = SpansText(label);
  return (label.front().kind == doc::Span::Kind::kText ? "**" + text + "**" : text) + " ";
}

std::string MarkdownRenderer::ItemText(const doc::Item& item, bool numbered) {
  const std::string title = LabelText(item.label) + SpansText(item.text);
  std::string text = indent_ + (numbered ? fmt::format("{}. **{}**", item.number, title) : "- " + title);
  if (!item.id.empty()) text += " " + MarkdownCode(item.id);
  MarkdownRenderer below;
  below.indent_ = indent_ + "    ";
  below.in_list_ = true;
  for (const doc::Block& block : item.blocks) {
    if (const auto* effect = std::get_if<doc::Facts>(&block.content)) {
      text += " — " + FactsText(effect->facts);
    } else {
      std::visit(below, block.content);
    }
  }
  return text + "\n" + below.text_;
}

void MarkdownRenderer::operator()(const doc::Table& table) {
  std::string head = "|";
  std::string rule = "|";
  for (const doc::Column& column : table.columns) {
    if (column.kind == doc::Column::Kind::kBar) continue;
    head += " " + column.title + " |";
    rule += column.kind == doc::Column::Kind::kNumber ? "---:|" : "---|";
  }
  std::string text = head + "\n" + rule + "\n";
  std::size_t shown = 0;
  while (shown < std::min(table.rows.size(), kTableRows) && text.size() < most_of_table_) {
    const std::vector<doc::Cell>& cells = table.rows[shown++].cells;
    text += "|";
    for (std::size_t at = 0; at < cells.size(); ++at) {
      if (table.columns[at].kind != doc::Column::Kind::kBar)
        text += " " + SpansText(cells[at].text, Where::kTable) + " |";
    }
    text += "\n";
  }
  Add(text);
  if (const std::string more = MoreText(table.left_out + table.rows.size() - shown, table.elsewhere); !more.empty())
    Add(more);
}

std::string Render(doc::Blocks blocks, doc::Pass pass) {
  return WithoutCommands(MarkdownRenderer().Render(doc::Select(std::move(blocks), pass, doc::Drawings::kDropped)));
}

// The content that the brief pass omits, one folded block per section.
std::vector<std::string> FoldedSections(const doc::Blocks& blocks) {
  std::vector<std::string> folded;
  for (const doc::Block& block : doc::Select(blocks, doc::Pass::kRest, doc::Drawings::kDropped)) {
    const auto& section = std::get<doc::Section>(block.content);
    const std::string title = section.title + (block.depth == doc::Depth::kMore ? "" : ": the rest");
    folded.push_back(WithoutCommands(Folded(title, MarkdownRenderer().Render(section.blocks))));
  }
  return folded;
}

MarkdownPart PartOf(const doc::Part& part, bool folded) {
  const doc::Blocks blocks = part.make(doc::Pass::kRest);
  MarkdownPart made{Render(blocks, doc::Pass::kBrief), FoldedSections(blocks), ""};
  if (!folded) return made;
  made.text =
      "<details>\n<summary>" + WithoutCommands(SpansText(part.summary, Where::kHtml)) + "</summary>\n\n" + made.text;
  made.end = "\n</details>\n";
  return made;
}

// Adds blocks that belong to the whole report. Folds sections, except open ones.
void AddFolded(doc::Blocks blocks, MarkdownPart* part) {
  for (doc::Block& block : doc::Select(std::move(blocks), doc::Pass::kAll, doc::Drawings::kDropped)) {
    if (auto* section = std::get_if<doc::Section>(&block.content); section != nullptr && !section->open) {
      part->folded.push_back(WithoutCommands(Folded(section->title, MarkdownRenderer().Render(section->blocks))));
    } else {
      part->text += (part->text.empty() ? "" : "\n") + Render({std::move(block)}, doc::Pass::kAll);
    }
  }
}

std::string Footer(const doc::Document& document) {
  return "\n<sub>" + SpansText(doc::Joined(document.footer, " · "), Where::kHtml) + "</sub>\n";
}

}  // namespace

std::string PrintMarkdownPage(const doc::Blocks& blocks) {
  return MarkdownRenderer().Render(doc::Select(blocks, doc::Pass::kAll, doc::Drawings::kDropped));
}

std::string PrintMarkdown(const Report& report, std::size_t most_bytes) {
  doc::Document document = MakeDocument(report);
  std::vector<MarkdownPart> parts;
  if (!document.head.empty()) parts.push_back({Render(std::move(document.head), doc::Pass::kBrief), {}, ""});
  std::size_t bytes = 0;
  for (const doc::Part& part : document.failures) {
    parts.push_back(bytes > most_bytes ? MarkdownPart{} : PartOf(part, document.batch));
    bytes += parts.back().text.size();
  }
  for (const doc::Part& part : document.programs) parts.push_back(PartOf(part, false));
  MarkdownPart& first = parts.front();
  for (const doc::Block& block : document.table) {
    const auto& section = std::get<doc::Section>(block.content);
    const std::string table = MarkdownRenderer(most_bytes / 4).Render(section.blocks);
    first.text += "\n" + WithoutCommands(Folded(section.title, table));
  }
  for (doc::Blocks* blocks : {&document.notes, &document.remedies}) AddFolded(std::move(*blocks), &first);
  return JoinWithin(parts, Footer(document), most_bytes);
}

}  // namespace whyoom
