#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "report/failure_view.h"
#include "report/formatting.h"
#include "report/printers.h"
#include "report/report_document.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kTableRows = 200;
constexpr std::size_t kLongestUrl = 160;  // columns

// A name as code in HTML: in <summary>, where Markdown is not parsed. Writes everything but letters, digits, blanks and
// commas as character references, which are never markup or links.
std::string HtmlCode(std::string_view name) {
  std::string text;
  for (const char c : Printable(name)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '@') {
      text += "<!-- -->&#64;";  // GitHub's parser turns mail addresses into links, even with a reference alone
    } else if (byte < 0x80 && std::isalnum(byte) == 0 && c != ' ' && c != ',') {
      text += fmt::format("&#{};", static_cast<unsigned>(byte));
    } else {
      text += c;
    }
  }
  return text.empty() ? "" : "<code>" + text + "</code>";
}

// Backticks that do not occur in the text, at least `least`.
std::string FenceOf(std::string_view text, std::size_t least) {
  std::string fence(least, '`');
  while (text.find(fence) != std::string_view::npos) fence += '`';
  return fence;
}

// A name as code, in one line; empty if `name` is. Cannot become markup, HTML, a mention (@name), a reference to an
// issue or commit (#12, GH-12, a hash) or a link.
std::string MarkdownCode(std::string_view name) {
  const std::string text = Printable(name);
  // In tables, parsers disagree about a backslash before "|".
  if (text.find('|') != std::string::npos || text.find_first_not_of(' ') == std::string::npos) return HtmlCode(text);
  const std::string fence = FenceOf(text, 1);
  // The parser removes one blank on both sides.
  const bool edge = text.front() == '`' || text.back() == '`' || (text.front() == ' ' && text.back() == ' ');
  const std::string blank = edge ? " " : "";
  return fence + blank + text + blank + fence;
}

// A URL of the rule data as a link, or as code if it is invalid or contains characters that could end the link.
std::string UrlText(const std::string& url) {
  const bool plain = url.starts_with("https://") && url.find_first_of(" <>\"\\\n\t") == std::string::npos;
  return plain && Printable(url) == url ? "<" + url + ">" : MarkdownCode(Shorten(Printable(url), kLongestUrl));
}

std::string SpansText(const doc::Spans& spans) {
  std::string text;
  for (const doc::Span& span : spans) {
    if (span.kind == doc::Span::Kind::kCode) {
      text += MarkdownCode(span.text);
    } else if (span.kind == doc::Span::Kind::kLink) {
      text += SpansText(doc::Sentence(span.text)) + ": " + UrlText(span.url);
    } else {
      text += span.text;
    }
  }
  return text;
}

// `summary` is HTML.
std::string Folded(const std::string& summary, const std::string& content) {
  return "<details>\n<summary>" + summary + "</summary>\n\n" + content + "\n</details>\n";
}

std::string TitleOf(const doc::Section& section) {
  std::string title = section.title;
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return SpansText(doc::Sentence(title));
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
    page_level_ = verdict.level == 0 ? 1 : 0;
    const char* heading = verdict.level == 0 ? "# " : verdict.level == 1 ? "### " : "#### ";
    const doc::Spans code = doc::Name(verdict.code);
    Add(heading + SpansText(doc::Joined({code, verdict.title}, " ")));
    for (const doc::Spans& note : verdict.notes) Add(SpansText(note));
    (*this)(doc::Inline(verdict.facts));
  }

  void operator()(const doc::Section& section) {
    const std::string title = TitleOf(section);
    if (!title.empty()) Add(page_level_ > 0 ? std::string(page_level_ + 1, '#') + " " + title : "**" + title + "**");
    for (const doc::Block& block : section.blocks) std::visit(*this, block.content);
  }

  void operator()(const doc::Paragraph& paragraph) {
    if (!paragraph.text.empty()) Add(SpansText(paragraph.text));
  }

  void operator()(const doc::List& list) {
    std::string items;
    for (const doc::Item& item : list.items) items += ItemText(list.style, item);
    Add(items.substr(0, items.rfind('\n')));
  }

  void operator()(const doc::Table& table) {
    std::string text = "|";
    std::string rule = "|";
    for (const doc::Column& column : table.columns) {
      text += " " + column.title + " |";
      rule += column.is_number ? "---:|" : "---|";
    }
    text += "\n" + rule;
    std::size_t shown = 0;
    while (shown < std::min(table.rows.size(), kTableRows) && text.size() < most_of_table_) {
      text += "\n|";
      for (const doc::Spans& cell : table.rows[shown++]) text += " " + SpansText(cell) + " |";
    }
    Add(text);
    (*this)(doc::LeftOut(table.left_out + table.rows.size() - shown));
  }

  void operator()(const doc::Code& code) {
    std::string lines;
    for (const doc::Span& line : code.lines) lines += Printable(line.text) + "\n";
    const std::string fence = FenceOf(lines, 3);
    Add(fence + code.language + "\n" + lines + fence);
  }

 private:
  void Add(const std::string& block) { text_ += (text_.empty() ? "" : "\n") + block + "\n"; }

  // "- **Cost** none"; names are not set in bold. What is below an item is indented.
  static std::string ItemText(doc::List::Style style, const doc::Item& item) {
    using Style = doc::List::Style;
    const std::string text = SpansText(item.text);
    std::string label = SpansText(item.label);
    if (style == Style::kFields && item.label.front().kind == doc::Span::Kind::kText) label = "**" + label + "**";
    std::string lines = (style == Style::kNumbered ? label + ". **" + text + "**"
                         : style == Style::kFields ? "- " + label + " " + text
                                                   : "- " + text) +
                        "\n" + MarkdownRenderer().Render(item.blocks);
    for (std::size_t at = lines.find('\n'); at + 1 < lines.size(); at = lines.find('\n', at + 1))
      if (lines[at + 1] != '\n') lines.insert(at + 1, "    ");
    return lines;
  }

  const std::size_t most_of_table_;  // bytes
  std::string text_;
  std::size_t page_level_ = 0;  // of the page's heading; 0: a report, whose sections have bold titles
};

std::string Render(const doc::Blocks& blocks) { return WithoutCommands(MarkdownRenderer().Render(blocks)); }

std::string FoldedSections(const doc::Blocks& blocks) {
  std::string folded;
  for (const doc::Block& block : blocks) {
    const auto& section = std::get<doc::Section>(block.content);
    folded += "\n" + WithoutCommands(Folded(TitleOf(section), MarkdownRenderer().Render(section.blocks)));
  }
  return folded;
}

// A part of a page that is included or left out as a whole; its details are included if they fit.
struct MarkdownPart {
  std::string text;
  std::string details = {};
  std::string end = {};  // after the details
};

MarkdownPart PartOf(const ReportDocument& document, const Failure& failure) {
  constexpr doc::Extent kFirst = {.more_follows = true};
  MarkdownPart part{Render(FirstBlocks(failure, kFirst)), FoldedSections(MoreBlocks(failure, kFirst))};
  if (!document.is_batch) return part;
  const std::string summary = HtmlCode(doc::PlainText(SummaryOf(failure, document.folder)));
  part.text = "<details>\n<summary>" + WithoutCommands(summary) + "</summary>\n\n" + part.text;
  part.end = "\n</details>\n";
  return part;
}

std::string LeftOut(std::size_t failures, std::size_t details) {
  std::string what;
  if (failures > 0) what = Counted(failures, "failure", "failures");
  if (details > 0)
    what += (what.empty() ? "" : " and ") + fmt::format("the details of {}", Counted(details, "failure", "failures"));
  return "\n_Left out because of the size limit: " + what +
         ". The same command with `--format text --all` shows everything._\n";
}

// Joins the parts with empty lines between them, then adds `footer`; at most `most_bytes`. Includes as many parts as
// fit, from the first, then the details of as many parts as fit. If anything is left out, a sentence reports it. If not
// even the first part and the footer fit, returns a note that the report is too large, or an empty string if the note
// does not fit either.
std::string JoinWithin(const std::vector<MarkdownPart>& parts, const std::string& footer, std::size_t most_bytes) {
  const std::size_t reserved = LeftOut(parts.size(), parts.size()).size() + footer.size();
  std::size_t room = most_bytes - std::min(most_bytes, reserved);
  const auto fits = [&](std::size_t bytes) {
    const bool fits = bytes <= room;
    if (fits) room -= bytes;
    return fits;
  };
  std::size_t shown = 0;
  while (shown < parts.size() && fits(parts[shown].text.size() + parts[shown].end.size() + 1)) ++shown;
  if (shown == 0) {
    const std::string all = "This report exceeds the size limit; the same command with `--format html` shows it.\n";
    return all.size() <= most_bytes ? all : "";
  }
  std::string page;
  std::size_t detailed = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    page += (i == 0 ? "" : "\n") + parts[i].text;
    if (detailed == i && fits(parts[i].details.size())) {
      page += parts[i].details;
      ++detailed;
    }
    page += parts[i].end;
  }
  if (detailed < parts.size()) page += LeftOut(parts.size() - shown, shown - detailed);
  return page + footer;
}

}  // namespace

std::string PrintMarkdownPage(const doc::Blocks& blocks) { return MarkdownRenderer().Render(blocks); }

std::string PrintMarkdown(const Report& report, std::size_t most_bytes) {
  const ReportDocument document = MakeDocument(report);
  std::vector<MarkdownPart> parts;
  if (!document.head.empty()) parts.push_back({Render(document.head)});
  std::size_t bytes = 0;
  for (const Failure* failure : document.failures) {
    parts.push_back(bytes > most_bytes ? MarkdownPart{} : PartOf(document, *failure));
    bytes += parts.back().text.size();
  }
  for (const doc::Blocks& program : document.programs) parts.push_back({Render(program)});
  MarkdownPart& first = parts.front();
  for (const doc::Block& block : document.table) {
    const auto& section = std::get<doc::Section>(block.content);
    const std::string table = MarkdownRenderer(most_bytes / 4).Render(section.blocks);
    first.text += "\n" + WithoutCommands(Folded(section.title, table));
  }
  for (const doc::Block& block : document.notes) {
    const bool is_folded = std::holds_alternative<doc::Section>(block.content) && !report.failures.empty();
    is_folded ? first.details += FoldedSections({block}) : first.text += "\n" + Render({block});
  }
  const std::string footer = SpansText(doc::Inline(document.footer).text);
  return JoinWithin(parts, "\n<sub>" + footer + "</sub>\n", most_bytes);
}

}  // namespace whyoom
