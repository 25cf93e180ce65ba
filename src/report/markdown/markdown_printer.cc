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
      default:
        text += where == Where::kHtml ? HtmlSentence(span.text) : span.text;
    }
  }
  return text;
}

std::string FactsText(const std::vector<doc::Spans>& facts) { return SpansText(doc::Joined(facts, " · ")); }

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
  return fence + (code.language.empty() ? "text" : code.language) + "\n" + lines + fence + "\n";
}

std::string Capitalised(std::string title) {
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

// Renders blocks as Markdown, separated by empty lines.
class MarkdownRenderer {
 public:
  explicit MarkdownRenderer(std::size_t most_of_table = std::string::npos) : most_of_table_(most_of_table) {}

  std::string Render(const doc::Blocks& blocks) {
    for (const doc::Block& block : blocks) std::visit(*this, block.content);
    return std::move(text_);
  }

  void operator()(const doc::Verdict& verdict);
  void operator()(const doc::Section& section);
  void operator()(const doc::Paragraph& paragraph) {
    in_list_ ? void(text_ += indent_ + "- " + SpansText(paragraph.text) + "\n") : Add(SpansText(paragraph.text) + "\n");
  }
  void operator()(const doc::List& list);
  void operator()(const doc::Table& table);
  void operator()(const doc::Command& command) {
    if (command.behind.empty()) return Add(MarkdownBlock(command.command));
    Add(MarkdownCode(command.command) + " · " + SpansText(command.behind) + "\n");
  }
  void operator()(const doc::Code& code);

 private:
  void Add(const std::string& block) { text_ += (text_.empty() ? "" : "\n") + block; }
  std::string ItemText(const doc::Item& item, bool numbered);

  const std::size_t most_of_table_;  // bytes
  std::string text_;
  std::size_t page_level_ = 0;  // of the current heading; 0: a report, whose sections have bold titles
  std::string indent_;          // of content below an item
  bool in_list_ = false;
};

void MarkdownRenderer::operator()(const doc::Verdict& verdict) {
  const std::string code = MarkdownCode(verdict.code);
  page_level_ = verdict.level == 0 ? 1 : 0;
  const char* heading = verdict.level == 0 ? "# " : verdict.level == 1 ? "### " : "#### ";
  Add(heading + code + (code.empty() ? "" : " ") + SpansText(verdict.title) + "\n");
  for (const doc::Spans& note : verdict.notes) Add(SpansText(note) + "\n");
  if (const std::string facts = FactsText(verdict.facts); !facts.empty()) Add(facts + "\n");
}

void MarkdownRenderer::operator()(const doc::Section& section) {
  const std::string title = Capitalised(section.title);
  if (page_level_ > 0) {
    Add(std::string(++page_level_, '#') + " " + MarkdownSentence(title) + "\n");
  } else if (!title.empty()) {
    Add("**" + title + "**\n");
  }
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
  return text + "\n" + below.Render(item.blocks);
}

void MarkdownRenderer::operator()(const doc::List& list) {
  std::string items;
  for (const doc::Item& item : list.items) items += ItemText(item, list.style == doc::List::Style::kNumbered);
  if (list.left_out > 0 && list.style != doc::List::Style::kNumbered)
    items += indent_ + fmt::format("- and {} more\n", list.left_out);
  in_list_ ? void(text_ += items) : Add(items);
}

// Below an item, the fence is indented like the item's text.
void MarkdownRenderer::operator()(const doc::Code& code) {
  if (!code.caption.empty()) (*this)(doc::Paragraph{doc::Sentence(code.caption)});
  if (!in_list_) return Add(Fenced(code));
  std::string lines = Fenced(code);
  text_ += "\n" + indent_;
  for (std::size_t i = 0; i < lines.size(); ++i)
    text_ += lines[i] == '\n' && i + 1 < lines.size() ? "\n" + indent_ : std::string(1, lines[i]);
  text_ += "\n";
}

void MarkdownRenderer::operator()(const doc::Table& table) {
  std::string text = "|";
  std::string rule = "|";
  for (const doc::Column& column : table.columns) {
    text += " " + column.title + " |";
    rule += column.is_number ? "---:|" : "---|";
  }
  text += "\n" + rule + "\n";
  std::size_t shown = 0;
  while (shown < std::min(table.rows.size(), kTableRows) && text.size() < most_of_table_) {
    text += "|";
    for (const doc::Spans& cell : table.rows[shown++]) text += " " + SpansText(cell, Where::kTable) + " |";
    text += "\n";
  }
  Add(text);
  if (const std::uint64_t more = table.left_out + table.rows.size() - shown; more > 0)
    Add(fmt::format("and {} more\n", more));
}

std::string Render(const doc::Blocks& blocks) { return WithoutCommands(MarkdownRenderer().Render(blocks)); }

std::vector<std::string> FoldedSections(const doc::Blocks& blocks) {
  std::vector<std::string> folded;
  for (const doc::Block& block : blocks) {
    const auto& section = std::get<doc::Section>(block.content);
    folded.push_back(WithoutCommands(Folded(Capitalised(section.title), MarkdownRenderer().Render(section.blocks))));
  }
  return folded;
}

MarkdownPart PartOf(const ReportDocument& document, std::size_t at) {
  const Failure& failure = *document.failures[at];
  MarkdownPart part{Render(FirstBlocks(failure, {})), FoldedSections(MoreBlocks(failure, {})), ""};
  if (!document.is_batch) return part;
  const std::string summary = SpansText(SummaryOf(failure, document.folder), Where::kHtml);
  part.text = "<details>\n<summary>" + WithoutCommands(summary) + "</summary>\n\n" + part.text;
  part.end = "\n</details>\n";
  return part;
}

std::string Footer(const ReportDocument& document) {
  return "\n<sub>" + SpansText(doc::Joined(document.footer, " · "), Where::kHtml) + "</sub>\n";
}

}  // namespace

std::string PrintMarkdownPage(const doc::Blocks& blocks) { return MarkdownRenderer().Render(blocks); }

std::string PrintMarkdown(const Report& report, std::size_t most_bytes) {
  const ReportDocument document = MakeDocument(report);
  std::vector<MarkdownPart> parts;
  if (!document.head.empty()) parts.push_back({Render(document.head), {}, ""});
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < document.failures.size(); ++i) {
    parts.push_back(bytes > most_bytes ? MarkdownPart{} : PartOf(document, i));
    bytes += parts.back().text.size();
  }
  for (const doc::Blocks& program : document.programs) parts.push_back({Render(program), {}, ""});
  MarkdownPart& first = parts.front();
  for (const doc::Block& block : document.table) {
    const auto& section = std::get<doc::Section>(block.content);
    const std::string table = MarkdownRenderer(most_bytes / 4).Render(section.blocks);
    first.text += "\n" + WithoutCommands(Folded(section.title, table));
  }
  for (const doc::Block& block : document.notes) {
    const auto* section = std::get_if<doc::Section>(&block.content);
    if (section != nullptr && !report.failures.empty()) {
      for (std::string& folded : FoldedSections({block})) first.folded.push_back(std::move(folded));
    } else {
      first.text += "\n" + Render({block});
    }
  }
  return JoinWithin(parts, Footer(document), most_bytes);
}

}  // namespace whyoom
